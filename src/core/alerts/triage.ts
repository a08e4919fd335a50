import { othersFirst } from "../../ground/kit/slices.ts";
import type { Store } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { compileLabelParts } from "./label-query.ts";
import { labelsOf } from "./labels.ts";
import { type AlertQuery, readAlertQuery, type TriageFilter } from "./query.ts";
import { type FilteredRow, type Run, runsOf, type TriageRow } from "./triage-runs.ts";

/** Alerts as people work through them: filtered, searched, in the order of need. */

interface TriagePage {
  rows: AlertRow[];
  /** What to go on with; null at the end. */
  next: string | null;
  /** false: the time was up before the page was full; `next` goes on. */
  complete: boolean;
}

/** Milliseconds of work, and alerts, that one page may cost. */
const MOST = { ms: 100, looked: 100_000 };
/** Work between two turns of others. */
const TURN_MS = 8;

/** A page of what the filter lets through. It reads a few hundred alerts at a time and lets others work in between. */
export async function triage(store: Store, filter: TriageFilter): Promise<TriagePage> {
  const query = readAlertQuery(filter.q ?? "");
  const lets = letsThrough(filter, query);
  const groups = runsOf(store, filter, query);
  const found: TriageRow[] = [];
  const { clock } = store;
  const mostLooked = Math.min(MOST.looked, filter.looked ?? MOST.looked);
  const spent = { ms: 0, looked: 0, since: clock.mono() };
  const least = Math.max(filter.min_level ?? 0, query.level?.from ?? 0);
  for (const runs of groups) {
    for (const one of merged(runs)) {
      // All that follow are lower.
      if (filter.order === "need" && one.state === "open" && one.level < least) break;
      if (lets(one)) found.push(one);
      if (found.length > filter.limit) return page(store, found, filter.limit);
      spent.looked++;
      const turn = clock.mono() - spent.since;
      if (spent.ms + turn > MOST.ms || spent.looked >= mostLooked) {
        const { rows } = page(store, found, filter.limit);
        return { rows, next: one.cursor, complete: found.length >= filter.limit };
      }
      if (turn < TURN_MS) continue;
      spent.ms += turn;
      await othersFirst();
      spent.since = clock.mono();
    }
  }
  return page(store, found, filter.limit);
}

function page(store: Store, found: readonly TriageRow[], limit: number): TriagePage {
  const shown = found.slice(0, limit);
  const next = found.length > limit ? (shown.at(-1)?.cursor ?? null) : null;
  return { rows: shown.map(({ id }) => getAlertRow(store, id)), next, complete: true };
}

/** What is in the runs, in their order. */
function* merged(runs: readonly Run[]): Generator<TriageRow> {
  const standing = runs.filter((run) => run.head() !== null);
  while (standing.length > 0) {
    let best = 0;
    for (let i = 1; i < standing.length; i++)
      if (isBefore((standing[i] as Run).head(), (standing[best] as Run).head())) best = i;
    const run = standing[best] as Run;
    yield run.take();
    if (run.head() === null) standing.splice(best, 1);
  }
}

function isBefore(a: TriageRow | null, b: TriageRow | null): boolean {
  if (a === null || b === null) return a !== null;
  return a.rank > b.rank || (a.rank === b.rank && a.tie > b.tie);
}

/** Whether an alert is what a list is asked for, its project and whose it is left out. */
export function letsThrough(
  { rule, min_level: minLevel = 0, silenced, states }: Omit<TriageFilter, "order" | "limit">,
  query: AlertQuery,
): (one: FilteredRow) => boolean {
  const takes = query.labels.length === 0 ? null : compileLabelParts(query.labels);
  return (one) =>
    (states === undefined || states.includes(one.state)) &&
    one.level >= minLevel &&
    (rule === undefined || one.rule === rule) &&
    (silenced === undefined || (one.silenced_by !== null) === silenced) &&
    isFound(one, query) &&
    (takes === null || takes(labelsOf(one)));
}

/** Whether an alert is what was looked for, but for its labels; its project was chosen before. */
function isFound(one: FilteredRow, query: AlertQuery): boolean {
  const { id, level, rule, keys, words } = query;
  if (id !== null && one.id !== id) return false;
  if (level !== null && (one.level < level.from || one.level >= level.below)) return false;
  if (rule !== null && one.rule.toLowerCase() !== rule) return false;
  if (keys.length > 0) {
    const all = JSON.parse(one.identifiers) as Record<string, string>;
    for (const { name, value } of keys)
      if (!Object.hasOwn(all, name) || (value !== null && all[name] !== value)) return false;
  }
  if (words.length === 0) return true;
  const text = `${one.template}\n${one.last_message}\n${one.identifiers}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
