import type { Layer } from "../../../core/oncall/schedule.ts";
import { invalid } from "../../../ground/kit/errors.ts";

/** A week's hours as boxes, and a layer's restriction: one stretch of hours, on some days. */

type Restriction = NonNullable<Layer["restriction"]>;

const WEEK = 168;

/** 0 is Sunday 00:00, as the contract counts days. */
const cell = (day: number, hour: number): number => (day * 24 + hour) % WEEK;

/** Null where it begins or ends within an hour: boxes can't say that. */
export function hoursOf({ days, start_minute, end_minute }: Restriction): Set<number> | null {
  if (start_minute % 60 !== 0 || end_minute % 60 !== 0) return null;
  const [start, end] = [start_minute / 60, end_minute / 60];
  const length = end <= start ? end + 24 - start : end - start;
  const on = days.length === 0 ? [0, 1, 2, 3, 4, 5, 6] : days;
  return new Set(on.flatMap((day) => Array.from({ length }, (_, hour) => cell(day, start + hour))));
}

/** Null: always. Throws 400 where one stretch of hours on some days can't say it: another layer can say the rest. */
export function restrictionOf(hours: ReadonlySet<number>, field: string): Restriction | null {
  if (hours.size === WEEK) return null;
  if (hours.size === 0) throw invalid([{ field, reason: "tick at least one hour" }]);
  const starts = [...hours].filter((at) => !hours.has((at + WEEK - 1) % WEEK));
  const runs = starts.flatMap((at) => {
    let length = 1;
    while (hours.has((at + length) % WEEK)) length += 1;
    // Whole days one after another are a stretch each.
    if (length % 24 !== 0) return [{ at, length }];
    return Array.from({ length: length / 24 }, (_, day) => ({
      at: cell(0, at + day * 24),
      length: 24,
    }));
  });
  const [first] = runs;
  const start = (first?.at ?? 0) % 24;
  const length = first?.length ?? 0;
  if (runs.some((run) => run.at % 24 !== start || run.length !== length) || length > 24)
    throw invalid([
      {
        field,
        reason: "must be the same hours on each of its days: make another layer for the others",
      },
    ]);
  const end = start + length;
  return {
    days: runs.map(({ at }) => Math.floor(at / 24)).sort(),
    start_minute: start * 60,
    end_minute: (end > 24 ? end - 24 : end) * 60,
  };
}
