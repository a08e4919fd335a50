import { preview } from "../../../core/oncall/rotation.ts";
import type { Schedule } from "../../../core/oncall/schedule.ts";
import { wallTime } from "../../../ground/kit/wall-time.ts";

/** A person on call in [from, until), Unix seconds. */
export interface ShiftOf {
  person: string;
  from: number;
  until: number;
}

/** A period in which the two systems have different people on call. */
interface Difference {
  from: number;
  until: number;
  theirs: string[];
  ours: string[];
}

/** The box's own shifts, of schedules whose accounts are emails. */
export function shiftsOf(
  schedules: readonly Schedule[],
  { from, until }: { from: number; until: number },
): ShiftOf[] {
  return schedules.flatMap((schedule) =>
    preview(schedule, from, until).shifts.map((shift) => ({
      person: shift.account_id,
      from: shift.starts_at,
      until: shift.ends_at,
    })),
  );
}

/** The periods within [from, until) in which two sets of shifts have different people on call. */
export function differencesBetween(
  theirs: readonly ShiftOf[],
  ours: readonly ShiftOf[],
  { from, until }: { from: number; until: number },
): Difference[] {
  const edges = [...theirs, ...ours].flatMap((shift) => [shift.from, shift.until]);
  const times = [...new Set([from, until, ...edges])]
    .filter((at) => at >= from && at <= until)
    .sort((a, b) => a - b);
  const [theirsAt, oursAt] = [followed(theirs), followed(ours)];
  const differences: Difference[] = [];
  for (const [i, at] of times.slice(0, -1).entries()) {
    const [a, b] = [theirsAt(at), oursAt(at)];
    if (a.join() === b.join()) continue;
    const end = times[i + 1] ?? until;
    const last = differences.at(-1);
    const goesOn = last?.until === at && last.theirs.join() === a.join();
    if (goesOn && last.ours.join() === b.join()) last.until = end;
    else differences.push({ from: at, until: end, theirs: a, ours: b });
  }
  return differences;
}

/** Returns who is on call at a time. Times must be asked for in order. */
function followed(shifts: readonly ShiftOf[]): (at: number) => string[] {
  const waiting = shifts.toSorted((a, b) => a.from - b.from);
  let next = 0;
  let on: ShiftOf[] = [];
  return (at) => {
    for (; (waiting[next]?.from ?? Infinity) <= at; next += 1) on.push(waiting[next] as ShiftOf);
    on = on.filter(({ until }) => until > at);
    return [...new Set(on.map(({ person }) => person))].sort();
  };
}

/** `2026-11-23 09:00 to 2026-11-24 09:00 Europe/Vienna: there ann@…, here bob@…`. */
export function differenceText({ from, until, theirs, ours }: Difference, zone: string): string {
  const names = (people: readonly string[]) => people.join(" and ") || "nobody";
  return `${wallTime(from, zone)} to ${wallTime(until, zone)} ${zone}: there ${names(theirs)}, here ${names(ours)}`;
}
