import { type CountSeries, TEMPLATES } from "../../core/projects/count-series.ts";
import {
  AN_HOUR,
  type ComparedWeeks,
  comparedAt,
  countsAt,
  isUnusual,
  unixDay,
} from "../../core/projects/unusual.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Arrival } from "./arrival.ts";
import { type Downtimes, readDowntimes } from "./first-seen.ts";
import type { HourCounts } from "./hour-counts.ts";
import type { CountedBy } from "./hour-rows.ts";
import type { CompiledRule } from "./match.ts";

/** How often things usually come, for rules that ask. */
export interface Habits {
  /** Counts an event of a template (a root); `exact`: rules of its project ask. */
  hear(tx: Tx, projectId: number, of: { root: string; exact: boolean }): void;
  /**
   * Counts what the rule takes, where it has counts of its own. How often it `came` and `usually` comes, where the rule asks
   * for what is unusual.
   */
  comparedTo(
    tx: Tx,
    rule: CompiledRule,
    arrival: Arrival,
    root: string,
  ): Unusually | "usual" | null;
  /** Counts an event that the rule takes under this key of its alerts, where it has counts of its own. */
  count(tx: Tx, rule: CompiledRule, arrival: Arrival, alertKey: string): void;
  /** Counts were moved, undone or read again. */
  clear(): void;
}

export interface Unusually {
  came: number;
  usually: number;
}

/** Keys whose weeks are remembered for the hour. */
const MOST_COMPARED = 20_000;

/** Of an alert's key what stands behind its rule: the template, and the rule's identifiers. */
export const countedKey = (alertKey: string): string => alertKey.slice(alertKey.indexOf(":") + 1);

export function createHabits(counts: HourCounts): Habits {
  const compared = new ForgetfulMap<string, { hour: number; compared: ComparedWeeks }>(
    MOST_COMPARED,
  );
  /** The series of each project's templates. */
  const ofTemplates = new Map<number, number>();
  let downs: Downtimes | null = null;
  let counted: { arrival: Arrival | null; series: Set<number> } = {
    arrival: null,
    series: new Set(),
  };

  const seriesOf = (tx: Tx, { selection, rule }: CompiledRule): CountSeries => {
    const since = selection === TEMPLATES ? tx.at : rule.updated_at;
    return counts.series(tx, { projectId: rule.project_id, selection, since });
  };

  /** Rules that take the same count it once. */
  const isCounted = (arrival: Arrival, series: number) => {
    if (counted.arrival !== arrival) counted = { arrival, series: new Set() };
    if (counted.series.has(series)) return true;
    counted.series.add(series);
    return false;
  };

  const compare = (
    reader: Reader,
    at: number,
    of: CountedBy,
    asked: { since: number; hours: number },
  ) => {
    downs ??= readDowntimes(reader);
    const { within } = downs;
    return comparedAt(at, asked, {
      since: asked.since,
      off: within,
      hoursOf: (day) => counts.hoursOf(reader, of, day),
    });
  };

  const own: Habits = {
    hear(tx, projectId, { root, exact }) {
      let series = ofTemplates.get(projectId);
      if (series === undefined) {
        series = counts.series(tx, { projectId, selection: TEMPLATES, since: tx.at }).id;
        ofTemplates.set(projectId, series);
      }
      counts.add(tx, { series, key: root }, exact);
    },
    comparedTo(tx, rule, arrival, root) {
      const { unusual } = rule;
      if (unusual === null) return null;
      const alertKey = rule.keyOf(root, arrival.event.keys);
      const { id, since } = seriesOf(tx, rule);
      const of = { series: id, key: countedKey(alertKey) };
      own.count(tx, rule, arrival, alertKey);
      const hour = Math.floor(tx.at / AN_HOUR);
      let known = compared.get(alertKey);
      if (known?.hour !== hour) {
        const asked = { since, hours: unusual.hours };
        known = { hour, compared: compare(tx, tx.at, of, asked) };
        compared.set(alertKey, known);
      }
      const soFar = counts.hoursOf(tx, of, unixDay(tx.at))?.[hour % 24] ?? 0;
      const found = countsAt(tx.at, known.compared, soFar);
      if (found.usual === null || !isUnusual(unusual, found)) return "usual";
      return { came: Math.round(found.count), usually: Math.round(found.usual) };
    },
    count(tx, rule, arrival, alertKey) {
      if (rule.selection === TEMPLATES) return;
      const { id } = seriesOf(tx, rule);
      const of = { series: id, key: countedKey(alertKey) };
      if (!isCounted(arrival, id)) counts.add(tx, of, true);
    },
    clear() {
      compared.clear();
      ofTemplates.clear();
      counted = { arrival: null, series: new Set() };
      downs = null;
    },
  };
  return own;
}
