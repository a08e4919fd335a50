/** `kill-restore.ts DATA FILE INTO`: restores FILE over the store in DATA, keeps DATA as it is before each step in INTO, and prints how many there are. */
import { keepEach, stepsTaken } from "../../ground/store/steps.ts";

const [, , data = "", file = "", into = ""] = process.argv;
const { restoreBackup } = await import("../../../src/records/backup/restore.ts");
const { placeOf } = await import("../../../src/records/backup/place.ts");
const { systemClock } = await import("../../../src/ground/kit/clock.ts");
keepEach(data, into);
restoreBackup({
  place: placeOf(data),
  file,
  replace: true,
  pending: "auto",
  clock: systemClock,
});
process.stdout.write(String(stepsTaken()));
