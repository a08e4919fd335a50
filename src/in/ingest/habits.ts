import { type CountSeries, TEMPLATES } from "../../core/projects/count-series.ts";
import {
  AN_HOUR,
  type ComparedWeeks,
  comparedAt,
  countsAt,
  fewUpTo,
  isUnusual,
  unixDay,
  usualUpTo,
} from "../../core/projects/unusual.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Arrival } from "./arrival.ts";
import { type Downtimes, readDowntimes } from "./first-seen.ts";
import type { HourCounts } from "./hour-counts.ts";
import type { CountedBy } from "./hour-rows.ts";
import type { CompiledRule } from "./match.ts";

/** How often things usually come, for rules that ask. */
export type Habits = ReturnType<typeof createHabits>;

/** What one key is compared with in an hour. */
interface Compared {
  hour: number;
  of: CountedBy;
  since: number;
  /** Null until enough came to ask. */
  compared: ComparedWeeks | null;
  /** So many of the hour are usual without a further look. */
  upTo: number;
}

/** Keys of a rule whose weeks are remembered for the hour. */
const MOST_COMPARED = 20_000;

/** Of an alert's key what stands behind its rule: the template, and the rule's identifiers. */
export const countedKey = (alertKey: string): string => alertKey.slice(alertKey.indexOf(":") + 1);

export function createHabits(counts: HourCounts) {
  let compared = new WeakMap<CompiledRule, ForgetfulMap<string, Compared>>();
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

  const comparedBy = (rule: CompiledRule) => {
    let byKey = compared.get(rule);
    if (byKey === undefined) {
      byKey = new ForgetfulMap(MOST_COMPARED);
      compared.set(rule, byKey);
    }
    return byKey;
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

  const own = {
    /** Counts an event of a template (a root); `asked`: by rules of its project. */
    hear(tx: Tx, projectId: number, { root, asked }: { root: string; asked: boolean }) {
      let series = ofTemplates.get(projectId);
      if (series === undefined) {
        series = counts.series(tx, { projectId, selection: TEMPLATES, since: tx.at }).id;
        ofTemplates.set(projectId, series);
      }
      counts.add(tx, { series, key: root }, asked);
    },
    /**
     * Counts what the rule takes, where it has counts of its own. How often it `came` and `usually` comes, where the rule asks
     * for what is unusual.
     */
    comparedTo(tx: Tx, rule: CompiledRule, arrival: Arrival, root: string) {
      const { unusual } = rule;
      if (unusual === null) return null;
      // A template's id says which rule's key it is; identifiers are read from the event.
      const { keys } = arrival.event;
      const key =
        rule.rule.identifier_keys.length === 0 ? root : countedKey(rule.keyOf(root, keys));
      if (rule.selection !== TEMPLATES) own.count(tx, rule, arrival, rule.keyOf(root, keys));
      const hour = Math.floor(tx.at / AN_HOUR);
      const byKey = comparedBy(rule);
      let known = byKey.get(key);
      if (known?.hour !== hour) {
        const { id, since } = seriesOf(tx, rule);
        const of = { series: id, key };
        const hoursOf = (day: number) => counts.hoursOf(tx, of, day);
        known = { hour, of, since, compared: null, upTo: fewUpTo(tx.at, unusual, { hoursOf }) };
        byKey.set(key, known);
      }
      const soFar = counts.hoursOf(tx, known.of, unixDay(tx.at))?.[hour % 24] ?? 0;
      if (soFar <= known.upTo) return "usual";
      if (known.compared === null) {
        const { of, since } = known;
        known.compared = compare(tx, tx.at, of, { since, hours: unusual.hours });
        known.upTo = usualUpTo(unusual, known.compared);
        if (soFar <= known.upTo) return "usual";
      }
      const found = countsAt(tx.at, known.compared, soFar);
      if (found.usual === null || !isUnusual(unusual, found)) return "usual";
      return { came: Math.round(found.count), usually: Math.round(found.usual) };
    },
    /** Counts an event that the rule takes under this key of its alerts, where it has counts of its own. */
    count(tx: Tx, rule: CompiledRule, arrival: Arrival, alertKey: string) {
      if (rule.selection === TEMPLATES) return;
      const { id } = seriesOf(tx, rule);
      const of = { series: id, key: countedKey(alertKey) };
      if (!isCounted(arrival, id)) counts.add(tx, of, true);
    },
    /** Counts were moved, undone or read again. */
    clear() {
      compared = new WeakMap();
      ofTemplates.clear();
      counted = { arrival: null, series: new Set() };
      downs = null;
    },
  };
  return own;
}
