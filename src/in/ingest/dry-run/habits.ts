import { type CountSeries, findSeries, TEMPLATES } from "../../../core/projects/count-series.ts";
import {
  AN_HOUR,
  type ComparedWeeks,
  comparedAt,
  countsAt,
  isUnusual,
  LEAST_WEEKS,
  type Unusual,
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
 * in the store yet. A line isn't judged where the rule compared it with counts that are deleted since.
 */
export type DryHabits = ReturnType<typeof habitsOf>;

interface OfHour {
  hour: number;
  soFar: number;
  /** "gone": some of it is deleted. */
  compared: ComparedWeeks | "gone" | null;
}

const MOST_KEYS = 100_000;

/** `given`: the lines come now, in addition to what came in this hour. `isGone` is told of each line that isn't judged. */
export function habitsOf(
  reader: Reader,
  rule: CompiledRule,
  { projectId, given, isGone }: { projectId: number; given: boolean; isGone(line: DryLine): void },
) {
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

  const compare = (at: number, key: string, asked: Unusual, { since, keptFrom }: CountSeries) => {
    let gone = false;
    const read = hoursOf(key);
    const compared = comparedAt(at, asked, {
      since,
      off: downs.within,
      hoursOf(day) {
        gone ||= day < keptFrom && day >= unixDay(since);
        return read(day);
      },
    });
    return gone && compared.weeks.length >= LEAST_WEEKS ? "gone" : compared;
  };

  return {
    /** A line of any template. */
    hear(line: DryLine) {
      if (unusual !== null && selection === TEMPLATES) count(line);
    },
    /** A line that the rule takes. */
    isUnusual(line: DryLine): boolean {
      if (unusual === null) return true;
      if (selection !== TEMPLATES) count(line);
      const key = keyOf(line);
      const known = byKey.get(key);
      if (series === null || known === undefined) return false;
      known.compared ??= compare(line.at, key, unusual, series);
      if (known.compared === "gone") {
        isGone(line);
        return false;
      }
      return isUnusual(unusual, countsAt(line.at, known.compared, known.soFar));
    },
  };
}
