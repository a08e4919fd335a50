import { findSeries, TEMPLATES } from "../../../core/projects/count-series.ts";
import {
  AN_HOUR,
  type ComparedWeeks,
  comparedAt,
  countsAt,
  isUnusual,
  unixDay,
} from "../../../core/projects/unusual.ts";
import { ForgetfulMap } from "../../../ground/kit/forgetful-map.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { readDowntimes } from "../first-seen.ts";
import { countedKey } from "../habits.ts";
import { readHours } from "../hour-rows.ts";
import type { CompiledRule } from "../match.ts";
import type { DryLine } from "./dry-line.ts";

/**
 * Whether what a rule takes came more often than usual, by the counts that the store has: a dry run then opens what the rule
 * itself would have. Of the hour in which a line came, the lines until then are counted. Counts of the last minute may not be
 * in the store yet.
 */
export interface DryHabits {
  /** A line of any template. */
  hear(line: DryLine): void;
  /** A line that the rule takes. */
  isUnusual(line: DryLine): boolean;
}

interface OfHour {
  hour: number;
  soFar: number;
  compared: ComparedWeeks | null;
}

const MOST_KEYS = 100_000;

/** `given`: the lines come now, in addition to what came in this hour. */
export function habitsOf(
  reader: Reader,
  rule: CompiledRule,
  { projectId, given }: { projectId: number; given: boolean },
): DryHabits {
  const { unusual, selection } = rule;
  const series = findSeries(reader, { projectId, selection });
  const downs = readDowntimes(reader);
  const byKey = new ForgetfulMap<string, OfHour>(MOST_KEYS);

  const hoursOf = (key: string) => (day: number) =>
    series === null ? null : (readHours(reader, { series: series.id, key }, day)?.hours ?? null);
  const keyOf = ({ text, event }: DryLine) =>
    selection === TEMPLATES ? text.root.id : countedKey(rule.keyOf(text.root.id, event.keys));
  const count = (line: DryLine): void => {
    const key = keyOf(line);
    const hour = Math.floor(line.at / AN_HOUR);
    let known = byKey.get(key);
    if (known?.hour !== hour) {
      const before = given ? (hoursOf(key)(unixDay(line.at))?.[hour % 24] ?? 0) : 0;
      known = { hour, soFar: before, compared: null };
      byKey.set(key, known);
    }
    known.soFar++;
  };

  return {
    hear(line) {
      if (unusual !== null && selection === TEMPLATES) count(line);
    },
    isUnusual(line) {
      if (unusual === null) return true;
      if (selection !== TEMPLATES) count(line);
      const key = keyOf(line);
      const known = byKey.get(key);
      if (series === null || known === undefined) return false;
      known.compared ??= comparedAt(line.at, unusual, {
        since: series.since,
        off: downs.within,
        hoursOf: hoursOf(key),
      });
      return isUnusual(unusual, countsAt(line.at, known.compared, known.soFar));
    },
  };
}
