/** `kill-restore.ts DATA FILE N`: restores FILE over the store in DATA and dies before its N-th step; 0: prints how many there are. */
import { dieBefore, stepsTaken } from "../store/steps.ts";

const [, , data = "", file = "", count = ""] = process.argv;
const { restoreBackup } = await import("../../src/backup/restore.ts");
const { placeOf } = await import("../../src/backup/place.ts");
const { systemClock } = await import("../../src/kit/clock.ts");
dieBefore(Number(count));
restoreBackup({
  ...{ place: placeOf(data), file, replace: true },
  ...{ pending: "auto", clock: systemClock },
});
process.stdout.write(String(stepsTaken()));
