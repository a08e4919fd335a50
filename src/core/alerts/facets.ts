import * as z from "zod";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { Store } from "../../ground/store/store.ts";
import type { AlertState } from "./alert.ts";
import { FacetTally } from "./facet-tally.ts";
import type { Labels, Varied } from "./label-book.ts";
import type { LabelColumns } from "./labels.ts";
import { changedSince, MOST_KNOWN, slices } from "./matching.ts";
import { type AlertQuery, readAlertQuery, type TriageFilter } from "./query.ts";
import { letsThrough } from "./triage.ts";
import { projectsOf } from "./triage-runs.ts";
import { alertsVersion, type Version, whileUnchanged } from "./unchanged.ts";

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
type FacetsAnswer = z.output<typeof facetsAnswer>;

/** Milliseconds of work, and alerts, that one look may cost. */
const MOST = { ms: 250, looked: 100_000 };
const TURN_MS = 8;
const SLICE = 1000;

/** What an alert says of its labels, as JSON of `[labels, varied]`; null: none varies. */
type Said = [id: number, text: string];

/** Whose alerts. */
interface Asked extends Pick<TriageFilter, "mine" | "silenced"> {
  states: readonly AlertState[];
}

const counted = whileUnchanged<Promise<FacetsAnswer>>(8);

/** A count as of a change, looked up at a moment of the monotonic clock, with what each alert said. */
interface Known extends Version {
  at: number;
  tally: FacetTally;
  said: Map<number, string>;
}

/** The latest counts, which are followed. */
const known = new WeakMap<Store, Map<string, Known>>();
const MOST_FILTERS = 2;

/** Over all alerts in these states that a query finds. */
export async function alertFacets(
  store: Store,
  asked: Asked & { q: string },
): Promise<FacetsAnswer> {
  const { q, states, mine, silenced } = asked;
  // Alerts that are over are deleted without a change that readers follow.
  if (states.includes("resolved")) return countFacets(store, asked);
  const key = JSON.stringify([q, states, mine, silenced]);
  const ofStore = known.getOrInsertComputed(store, () => new ForgetfulMap(MOST_FILTERS));
  return counted(store)(key, async () => {
    const before = ofStore.get(key);
    if (before !== undefined && follow(store, asked, before)) return before.tally.answer(true);
    ofStore.delete(key);
    return countFacets(store, asked, (now) => ofStore.set(key, now));
  });
}

/** Takes what changed since into the count; false where that can't tell it. */
function follow(store: Store, asked: Asked & { q: string }, before: Known): boolean {
  const since = changedSince(store, asked, before, { withLabels: true });
  if (since === null) return false;
  const { tally, said } = before;
  const now = new Map(since.rows.flatMap(saidBy));
  for (const id of since.ids) if (!now.has(id)) forget(before, id);
  for (const [id, text] of now) add(before, id, text);
  before.seq = since.seq;
  return tally.isWhole && said.size <= MOST_KNOWN.alerts;
}

function add({ tally, said }: Pick<Known, "tally" | "said">, id: number, text: string): void {
  if (said.get(id) === text) return;
  // What moved on meanwhile counts once.
  forget({ tally, said }, id);
  tally.add(...(JSON.parse(text) as [Labels, Varied | null]));
  if (said.size <= MOST_KNOWN.alerts) said.set(id, text);
}

function forget({ tally, said }: Pick<Known, "tally" | "said">, id: number): void {
  const text = said.get(id);
  if (text === undefined) return;
  tally.remove(...(JSON.parse(text) as [Labels, Varied | null]));
  said.delete(id);
}

/** Others work in between. `keep` gets what can be followed. */
async function countFacets(
  store: Store,
  { q, ...filter }: Asked & { q: string },
  keep: (counted: Known) => void = () => {},
): Promise<FacetsAnswer> {
  const query = readAlertQuery(q);
  const { clock } = store;
  const tally = new FacetTally();
  const now: Known = { ...alertsVersion(store), at: clock.mono(), tally, said: new Map() };
  const spent = { ms: 0, looked: 0, since: clock.mono() };
  for (const slice of said(store, filter, query)) {
    for (const [id, text] of slice) add(now, id, text);
    spent.looked += SLICE;
    const turn = clock.mono() - spent.since;
    if (spent.ms + turn > MOST.ms || spent.looked >= MOST.looked) return tally.answer(false);
    if (turn < TURN_MS) continue;
    spent.ms += turn;
    await othersFirst();
    spent.since = clock.mono();
  }
  if (tally.isWhole && now.said.size <= MOST_KNOWN.alerts) keep(now);
  return tally.answer(true);
}

const isOfAll = ({ id, level, rule, keys, labels, words }: AlertQuery) =>
  id === null &&
  level === null &&
  rule === null &&
  keys.length + labels.length + words.length === 0;

const READ = `SELECT id, '[' || labels || ',' || coalesce(varied, 'null') || ']' FROM alerts
  WHERE project_id = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ${SLICE}`;

const saidBy = ({ id, labels, varied }: { id: number } & LabelColumns): Said[] =>
  labels === null ? [] : [[id, `[${labels},${varied}]`]];

function* said(store: Store, filter: Asked, query: AlertQuery): Generator<Said[]> {
  if (filter.mine !== undefined || filter.silenced !== undefined || !isOfAll(query)) {
    const lets = letsThrough(filter, query);
    for (const slice of slices(store, filter, query, { withLabels: true }))
      yield slice.filter(lets).flatMap(saidBy);
    return;
  }
  const read = store
    .sql<[project: number, state: string, before: number], [id: number, text: string | null]>(READ)
    .raw();
  for (const state of filter.states)
    for (const project of projectsOf(store, {}, query))
      for (let before = Number.MAX_SAFE_INTEGER, n = SLICE; n === SLICE; ) {
        const slice = read.all(project, state, before);
        yield slice.filter((one): one is Said => one[1] !== null);
        n = slice.length;
        before = slice.at(-1)?.[0] ?? 0;
      }
}
