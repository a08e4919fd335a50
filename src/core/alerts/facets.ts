import * as z from "zod";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { Store } from "../../ground/store/store.ts";
import type { AlertState } from "./alert.ts";
import type { Labels, Varied } from "./label-book.ts";
import { slices } from "./matching.ts";
import { type AlertQuery, readAlertQuery, type TriageFilter } from "./query.ts";
import { letsThrough } from "./triage.ts";
import { projectsOf } from "./triage-runs.ts";
import { whileUnchanged } from "./unchanged.ts";

/** Which labels alerts have, and how many have each value: what a list may be narrowed by. */

export const facetsAnswer = z
  .object({
    facets: z
      .array(
        z.object({
          name: z.string(),
          values: z.array(z.object({ value: z.string(), count: z.int() })).meta({
            description:
              "The most frequent, 20 at most. Of a label that varies each known value counts.",
          }),
          complete: z.boolean().meta({ description: "false: there are other values." }),
        }),
      )
      .meta({ description: "Labels, those of the most alerts first, 50 at most." }),
    complete: z.boolean().meta({
      description: "false: there are other labels, or more alerts match than one look takes.",
    }),
  })
  .meta({ id: "AlertFacets" });
export type FacetsAnswer = z.output<typeof facetsAnswer>;

const MOST_SHOWN = { names: 50, values: 20 };
/** Names, and values of one, that are counted. */
const MOST_COUNTED = { names: 1000, values: 10_000 };
/** Milliseconds of work, and alerts, that one look may cost. */
const MOST = { ms: 250, looked: 100_000 };
const TURN_MS = 8;
const SLICE = 1000;

/** What an alert says of its labels; null: none varies. */
type Said = [labels: Labels, varied: Varied | null];

/** Whose alerts. */
interface Asked extends Pick<TriageFilter, "mine" | "silenced"> {
  states: readonly AlertState[];
}

const counted = whileUnchanged<Promise<FacetsAnswer>>(8);

/** Over all alerts in these states that a query finds. */
export async function alertFacets(
  store: Store,
  asked: Asked & { q: string },
): Promise<FacetsAnswer> {
  const { q, states, mine, silenced } = asked;
  // Alerts that are over are deleted without a change that readers follow.
  if (states.includes("resolved")) return countFacets(store, asked);
  const key = JSON.stringify([q, states, mine, silenced]);
  return counted(store, key, () => countFacets(store, asked));
}

/** Others work in between. */
async function countFacets(
  store: Store,
  { q, ...filter }: Asked & { q: string },
): Promise<FacetsAnswer> {
  const query = readAlertQuery(q);
  const tally = new Tally();
  const { clock } = store;
  const spent = { ms: 0, looked: 0, since: clock.mono() };
  for (const slice of said(store, filter, query)) {
    for (const [labels, varied] of slice) tally.add(labels, varied);
    spent.looked += SLICE;
    const turn = clock.mono() - spent.since;
    if (spent.ms + turn > MOST.ms || spent.looked >= MOST.looked) return tally.answer(false);
    if (turn < TURN_MS) continue;
    spent.ms += turn;
    await othersFirst();
    spent.since = clock.mono();
  }
  return tally.answer(true);
}

const isOfAll = ({ id, level, rule, keys, labels, words }: AlertQuery) =>
  id === null &&
  level === null &&
  rule === null &&
  keys.length + labels.length + words.length === 0;

/** As one text, which is read in less time than a thousand rows. */
const READ = `SELECT count(*), min(id), group_concat(labels) FILTER (WHERE varied IS NULL),
    group_concat('[' || labels || ',' || varied || ']') FILTER (WHERE varied IS NOT NULL)
  FROM (SELECT id, labels, varied FROM alerts
    WHERE project_id = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ${SLICE})`;

type ReadSlice = [count: number, least: number, plain: string | null, varied: string | null];

function* said(store: Store, filter: Asked, query: AlertQuery): Generator<Said[]> {
  if (filter.mine !== undefined || filter.silenced !== undefined || !isOfAll(query)) {
    const lets = letsThrough(filter, query);
    for (const slice of slices(store, filter, query, { withLabels: true }))
      yield slice
        .filter(lets)
        .flatMap(({ labels, varied }) =>
          labels === null ? [] : allOf<Said>(`[${labels},${varied}]`),
        );
    return;
  }
  const read = store.sql<[project: number, state: string, before: number], ReadSlice>(READ).raw();
  for (const state of filter.states)
    for (const project of projectsOf(store, {}, query))
      for (let before = Number.MAX_SAFE_INTEGER, n = SLICE; n === SLICE; ) {
        const [count, least, plain, varied] = read.get(project, state, before) as ReadSlice;
        yield [
          ...allOf<Labels>(plain).map((labels): Said => [labels, null]),
          ...allOf<Said>(varied),
        ];
        [n, before] = [count, least];
      }
}

/** What stands behind commas in a JSON text; null: nothing. */
const allOf = <T>(texts: string | null) => JSON.parse(`[${texts ?? ""}]`) as T[];

/** How many alerts have each label, and each value of it. */
class Tally {
  readonly #names = new Map<string, { alerts: number; values: Map<string, number> }>();
  #isWhole = true;
  readonly #cut = new Set<string>();

  add(labels: Labels, varied: Varied | null): void {
    for (const name in labels) {
      const of = this.#of(name);
      if (of === null) continue;
      of.alerts += 1;
      if (varied === null || !Object.hasOwn(varied, name))
        this.#count(name, of.values, labels[name] as string);
      else for (const value of varied[name] as string[]) this.#count(name, of.values, value);
    }
  }

  #of(name: string) {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_COUNTED.names) {
      this.#isWhole = false;
      return null;
    }
    const made = { alerts: 0, values: new Map<string, number>() };
    this.#names.set(name, made);
    return made;
  }

  #count(name: string, values: Map<string, number>, value: string): void {
    const count = values.get(value);
    if (count !== undefined) values.set(value, count + 1);
    else if (values.size < MOST_COUNTED.values) values.set(value, 1);
    else this.#cut.add(name);
  }

  answer(isWhole: boolean): FacetsAnswer {
    const names = [...this.#names].sort(
      ([a, x], [b, y]) => y.alerts - x.alerts || (a < b ? -1 : 1),
    );
    return {
      facets: names.slice(0, MOST_SHOWN.names).map(([name, { values }]) => ({
        name,
        values: mostFrequent(values),
        complete: values.size <= MOST_SHOWN.values && !this.#cut.has(name),
      })),
      complete: isWhole && this.#isWhole && names.length <= MOST_SHOWN.names,
    };
  }
}

/** Sorted. Of thousands of values it sorts none but those that are shown. */
function mostFrequent(values: ReadonlyMap<string, number>): { value: string; count: number }[] {
  const most: { value: string; count: number }[] = [];
  for (const [value, count] of values) {
    const isBehind = (one: { value: string; count: number }) =>
      one.count < count || (one.count === count && value < one.value);
    const last = most[MOST_SHOWN.values - 1];
    if (last !== undefined && !isBehind(last)) continue;
    const at = most.findIndex(isBehind);
    most.splice(at === -1 ? most.length : at, 0, { value, count });
    most.length = Math.min(most.length, MOST_SHOWN.values);
  }
  return most;
}
