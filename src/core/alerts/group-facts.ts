import * as z from "zod";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { ownValue } from "../../ground/kit/own-value.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { Reader, Store } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import type { AlertGroup } from "./groups.ts";
import { type Labels, recordFrom, type Varied } from "./label-book.ts";
import type { GroupedAlert } from "./matching.ts";
import { titleOfAlert } from "./title.ts";

/** What a list says of a rule whose alerts are one row. */
export const groupAnswer = z
  .object({
    project: z.string(),
    rule: z.string(),
    count: z.int().meta({ description: "Alerts that match." }),
    levels: z.record(z.string(), z.int()).meta({ description: "How many have each level." }),
    states: z.object({
      open: z.int(),
      acknowledged: z.int(),
      silenced: z.int().meta({ description: "Of the open ones." }),
    }),
    since: z.int().meta({ description: "When the oldest of them was opened." }),
    accounts: z.array(z.string()).meta({ description: "Who has some of them, most first." }),
    titles: z.array(z.object({ title: z.string(), count: z.int() })).meta({
      description:
        "The three most frequent kinds (templates), each by the title of its most urgent alert.",
    }),
    labels: z.record(z.string(), z.string()).nullable().meta({
      description:
        "Labels that all of them have, each with one value. null: not compared, because a page compares at most 20,000 alerts.",
    }),
    alert: z.string().nullable().meta({ description: "The only one; null: there are several." }),
  })
  .meta({ id: "AlertGroup" });
export type GroupAnswer = z.output<typeof groupAnswer>;

/** The same with numbers in order, for whoever draws it. */
export interface GroupFacts extends Omit<GroupAnswer, "levels" | "alert" | "labels" | "titles"> {
  /** The most urgent. */
  first: AlertRow;
  /** The highest of their ids. */
  newest: number;
  /** The largest first, each with its most urgent alert. */
  kinds: { row: AlertRow; count: number }[];
  /** Highest first. */
  levels: [level: number, count: number][];
}

const MOST_KINDS = 3;

/** What a group's alerts say without their rows. */
interface Numbers
  extends Pick<GroupFacts, "count" | "levels" | "states" | "since" | "accounts" | "newest"> {
  kinds: { id: number; count: number }[];
}

/** By the list of a group's alerts, which is another once one of them has changed. */
const known = {
  numbers: new WeakMap<readonly GroupedAlert[], Numbers>(),
  labels: new WeakMap<readonly GroupedAlert[], Labels>(),
};

export function groupFacts(reader: Reader, { alerts }: AlertGroup): GroupFacts {
  const { kinds, ...numbers } = known.numbers.get(alerts) ?? numbersOf(alerts);
  const first = getAlertRow(reader, (alerts[0] as GroupedAlert).id);
  const rowOf = (id: number) => (id === first.id ? first : getAlertRow(reader, id));
  return {
    ...numbers,
    first,
    project: first.project,
    rule: first.rule,
    kinds: kinds.map(({ id, count }) => ({ row: rowOf(id), count })),
  };
}

function numbersOf(alerts: readonly GroupedAlert[]): Numbers {
  const taken = alerts.filter(({ state }) => state === "acknowledged");
  const held = alerts.filter(({ state, silenced_by }) => state === "open" && silenced_by !== null);
  const byTemplate = Map.groupBy(alerts, ({ template_id }) => template_id);
  const kinds = mostOf([...byTemplate.values()], ({ length }) => length).slice(0, MOST_KINDS);
  const holders = counts(taken.flatMap(({ acked_by }) => acked_by ?? []));
  const numbers = {
    count: alerts.length,
    levels: counts(alerts.map(({ level }) => level)).sort(([a], [b]) => b - a),
    states: {
      open: alerts.length - taken.length,
      acknowledged: taken.length,
      silenced: held.length,
    },
    since: alerts.reduce((least, one) => Math.min(least, one.opened_at), Number.MAX_SAFE_INTEGER),
    newest: alerts.reduce((most, { id }) => Math.max(most, id), 0),
    accounts: mostOf(holders, ([, count]) => count).map(([account]) => account),
    kinds: kinds.map((of) => ({ id: (of[0] as GroupedAlert).id, count: of.length })),
  };
  known.numbers.set(alerts, numbers);
  return numbers;
}

/** Each with its numbers, and with the labels that its alerts share. Others work in between. */
export async function toGroups(
  store: Store,
  groups: readonly AlertGroup[],
): Promise<GroupAnswer[]> {
  const shared = await sharedLabels(store, groups);
  return groups.map((group) => {
    const { first, levels, kinds, newest: _, ...facts } = groupFacts(store, group);
    const alert = group.alerts.length === 1 ? String(first.id) : null;
    const titles = kinds.map(({ row, count }) => ({ title: titleOfAlert(row), count }));
    const labels = shared.get(group) ?? null;
    return { ...facts, titles, levels: Object.fromEntries(levels), labels, alert };
  });
}

/** Alerts that one page compares; a group that is too large for what is left of them is left out. */
const MOST_COMPARED = 20_000;
/** Alerts read at once, and milliseconds between two turns of others. */
const SLICE = 250;
const TURN_MS = 8;
const READ = `SELECT id, labels, varied FROM alerts WHERE id IN (SELECT value FROM json_each(?))`;

/** What the alerts of a list share, so that it needn't be read of all of them again when a few change. */
interface Shared {
  list: WeakRef<readonly GroupedAlert[]>;
  /** null: none was read. */
  labels: Map<string, string> | null;
  /** The one that was read first, and those that lacked one of its labels: while they are as they were, the others share no more. */
  witnesses: GroupedAlert[];
}

/** The latest list of each rule. */
const latest = new WeakMap<Store, Map<number, Shared>>();
const MOST_RULES = 200;

/** The labels that all alerts of a group have, each with one value; in the order of one of them. */
export async function sharedLabels(
  store: Store,
  groups: readonly AlertGroup[],
): Promise<ReadonlyMap<AlertGroup, Labels>> {
  const found = new Map<AlertGroup, Labels>();
  const read = store.sql<[ids: string], [id: number, ...Said]>(READ).raw();
  const ofStore = latest.getOrInsertComputed(store, () => new ForgetfulMap(MOST_RULES));
  let left = MOST_COMPARED;
  let since = store.clock.mono();
  for (const group of groups) {
    const { alerts } = group;
    const before = known.labels.get(alerts);
    if (before !== undefined) {
      found.set(group, before);
      continue;
    }
    const rule = (alerts[0] as GroupedAlert).rule_id;
    const { shared, rest } = goneOnWith(ofStore.get(rule), alerts);
    if (rest.length > left) continue;
    left -= rest.length;
    for (let at = 0; at < rest.length && shared.labels?.size !== 0; at += SLICE) {
      const some = new Map(rest.slice(at, at + SLICE).map((one) => [one.id, one]));
      for (const [id, ...said] of read.all(JSON.stringify([...some.keys()])))
        if (leaves(shared, said)) shared.witnesses.push(some.get(id) as GroupedAlert);
      if (store.clock.mono() - since < TURN_MS) continue;
      await othersFirst();
      since = store.clock.mono();
    }
    ofStore.set(rule, shared);
    const labels = recordFrom(shared.labels ?? new Map<string, string>());
    found.set(group, labels);
    known.labels.set(alerts, labels);
  }
  return found;
}

/** What is known of a rule's list before, and the alerts that it doesn't tell of: all where a witness has changed. */
function goneOnWith(before: Shared | undefined, alerts: readonly GroupedAlert[]) {
  const compared = new Set(before?.list.deref());
  const here = new Set(alerts);
  const isKnown = before?.labels != null && before.witnesses.every((one) => here.has(one));
  const shared: Shared = {
    list: new WeakRef(alerts),
    labels: isKnown ? before.labels : null,
    witnesses: isKnown ? [...before.witnesses] : [],
  };
  return { shared, rest: isKnown ? alerts.filter((one) => !compared.has(one)) : alerts };
}

/** What an alert's row says of its labels, JSON. */
type Said = [labels: string | null, varied: string | null];

/** Leaves out what this alert has otherwise, and says whether it did. Of a label that varies in it no value is that of all. */
function leaves(shared: Shared, [labels, varied]: Said): boolean {
  const before = shared.labels;
  if (before !== null && labels !== null && varied === null && holds(labels, before)) return false;
  const own = JSON.parse(labels ?? "{}") as Labels;
  const several = varied === null ? null : (JSON.parse(varied) as Varied);
  const both = [...(before ?? Object.entries(own))].filter(
    ([name, value]) => ownValue(own, name) === value && ownValue(several, name) === undefined,
  );
  shared.labels = new Map(both);
  return both.length !== before?.size;
}

/**
 * Whether the JSON has each of these: to read all of it takes longer. In a text a quote stands behind a backslash, so what
 * is found between a brace or comma and a quote is a name.
 */
function holds(json: string, all: ReadonlyMap<string, string>): boolean {
  for (const [name, value] of all) {
    const said = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    if (!json.includes(`{${said}`) && !json.includes(`,${said}`)) return false;
  }
  return true;
}

const counts = <T>(all: readonly T[]): [T, number][] =>
  [...Map.groupBy(all, (one) => one)].map(([one, of]) => [one, of.length]);

const mostOf = <T>(all: readonly T[], count: (one: T) => number): T[] =>
  [...all].sort((a, b) => count(b) - count(a));
