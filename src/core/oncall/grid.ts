import { type Asking, previewOnCall } from "./answers.ts";
import { MOST_PIECES, type Range } from "./rotation.ts";
import type { GridAnswer } from "./schedule.ts";
import { idsOfSchedules, scheduleById } from "./schedules.ts";
import { DAY } from "./zone.ts";

/** The final shifts of all schedules, in one answer. */

/** What one grid may reach over. */
export const mostOfGrid = {
  days: 60,
  schedules: 200,
  /** Shifts and gaps of all schedules together: with as many, the answer has about 10 MB. */
  pieces: 50_000,
};

/**
 * Shifts and gaps of [from, until), Unix seconds, by project and name. Each schedule may have its part of all pieces, and what
 * earlier ones left over. Of one that changes more often, its own `until` says how far it was followed. Each is read in a turn
 * of the loop of its own.
 */
export async function gridOnCall(asking: Asking, range: Range): Promise<GridAnswer> {
  const ids = idsOfSchedules(asking.reader);
  const shown = ids.slice(0, mostOfGrid.schedules);
  const grid: GridAnswer["schedules"] = [];
  let left = mostOfGrid.pieces;
  for (const [i, id] of shown.entries()) {
    const stored = scheduleById(asking.reader, id);
    if (stored === null) continue;
    const most = Math.min(MOST_PIECES, Math.floor(left / (shown.length - i)));
    const { shifts, gaps, until } = await previewOnCall(asking, stored, { ...range, most });
    left -= shifts.length + gaps.length;
    const { project, name, timezone } = stored;
    grid.push({ project, schedule: name, timezone, shifts, gaps, until });
  }
  return { ...range, schedules: grid, left_out: ids.length - shown.length };
}

/** Why a grid of this range is refused, in words; null: it isn't. */
export function gridFault({ from, until }: Range): string | null {
  if (until <= from) return "must be later than from";
  const most = mostOfGrid.days;
  // In the week in which clocks change, sixty days have an hour more.
  return until - from > most * DAY + 3600 ? `must be at most ${most} days after from` : null;
}
