import type { Tx } from "../../ground/store/store.ts";
import type { ScheduleInput, StoredSchedule } from "../oncall/schedule.ts";
import { deleteSchedule, replaceSchedule } from "../oncall/schedules.ts";
import type { Project } from "../projects/projects.ts";
import { mustBeNoFallback, renameInFallback } from "./fallback.ts";
import { renameInLadderChanges } from "./followers.ts";

/** A schedule is named by ladders, which projects know, and by the fallback, which stands here. */

/** `replaceSchedule`; a new name is changed in the fallback, too. Throws as it does. */
export function changeSchedule(
  tx: Tx,
  project: Project,
  change: { name: string; to: ScheduleInput },
): StoredSchedule {
  const [from, to] = [`${project.name}/${change.name}`, `${project.name}/${change.to.name}`];
  const schedule = replaceSchedule(tx, project, change);
  renameInFallback(tx, { from, to });
  renameInLadderChanges(tx, (one) => (one === from ? to : one));
  return schedule;
}

/** `deleteSchedule`. Throws 404, and 409 while a ladder or the fallback names it. */
export function removeSchedule(tx: Tx, project: Project, name: string): void {
  deleteSchedule(tx, project, name);
  mustBeNoFallback(tx, `${project.name}/${name}`);
}
