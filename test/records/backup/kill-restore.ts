/** `kill-restore.ts DATA FILE N`: restores FILE over the store in DATA and dies before its N-th step; 0: prints how many there are. */
import { dieBefore, stepsTaken } from "../../ground/store/steps.ts";

const [, , data = "", file = "", count = ""] = process.argv;
const { restoreBackup } = await import("../../../src/records/backup/restore.ts");
const { placeOf } = await import("../../../src/records/backup/place.ts");
const { systemClock } = await import("../../../src/ground/kit/clock.ts");
dieBefore(Number(count));
restoreBackup({
  place: placeOf(data),
  file,
  replace: true,
  pending: "auto",
  clock: systemClock,
});
process.stdout.write(String(stepsTaken()));
