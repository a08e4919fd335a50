import { unixSeconds } from "../../ground/kit/clock.ts";
import { readMark } from "../../ground/store/record/mark.ts";
import type { Place } from "../../records/backup/place.ts";
import { rememberBackup, type Taken, takeBackup } from "../../records/backup/take.ts";
import { askDesk } from "./desk.ts";

/** Takes a backup, and has its time recorded by the box that serves the store, if one does. Throws StoreFault. */
export async function backUp(options: Parameters<typeof takeBackup>[0]): Promise<Taken> {
  const taken = takeBackup(options);
  const { place, clock } = options;
  const at = unixSeconds(clock);
  const mark = readMark(place.data);
  // A machine that stands by would ask the one that serves, of whose storage this is no copy.
  const isServed = isBoxes(place) && !mark?.standsBy;
  const isNoted = isServed && (await askDesk(place.data, "backup", at)) !== null;
  // One whose commits are in a database as well writes nothing while nobody serves it.
  if (!isNoted && mark === null) rememberBackup(place, at);
  return taken;
}

/** Not one of the hosted service, which has no socket. */
const isBoxes = ({ keyName }: Place): boolean => keyName === "box.key";
