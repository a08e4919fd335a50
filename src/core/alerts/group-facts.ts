import * as z from "zod";
import type { Reader } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import type { AlertGroup, GroupedAlert } from "./groups.ts";

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
    titles: z
      .array(z.object({ title: z.string(), count: z.int() }))
      .meta({ description: "The three most frequent templates." }),
    alert: z.string().nullable().meta({ description: "The only one; null: there are several." }),
  })
  .meta({ id: "AlertGroup" });
export type GroupAnswer = z.output<typeof groupAnswer>;

/** The same with numbers in order, for whoever draws it. */
export interface GroupFacts extends Omit<GroupAnswer, "levels" | "alert"> {
  /** The most urgent. */
  first: AlertRow;
  /** Highest first. */
  levels: [level: number, count: number][];
}

const MOST_TITLES = 3;

export function groupFacts(reader: Reader, { alerts }: AlertGroup): GroupFacts {
  const first = getAlertRow(reader, (alerts[0] as GroupedAlert).id);
  const taken = alerts.filter(({ state }) => state === "acknowledged");
  const held = alerts.filter(({ state, silenced_by }) => state === "open" && silenced_by !== null);
  const byTemplate = Map.groupBy(alerts, ({ template_id }) => template_id);
  const titles = mostOf([...byTemplate.values()], ({ length }) => length).slice(0, MOST_TITLES);
  const holders = counts(taken.flatMap(({ acked_by }) => acked_by ?? []));
  return {
    first,
    project: first.project,
    rule: first.rule,
    count: alerts.length,
    levels: counts(alerts.map(({ level }) => level)).sort(([a], [b]) => b - a),
    states: {
      open: alerts.length - taken.length,
      acknowledged: taken.length,
      silenced: held.length,
    },
    since: alerts.reduce((least, { opened_at }) => Math.min(least, opened_at), first.opened_at),
    accounts: mostOf(holders, ([, count]) => count).map(([account]) => account),
    titles: titles.map((of) => ({
      title: getAlertRow(reader, (of[0] as GroupedAlert).id).template,
      count: of.length,
    })),
  };
}

export function toGroup(reader: Reader, group: AlertGroup): GroupAnswer {
  const { first, levels, ...facts } = groupFacts(reader, group);
  const alert = group.alerts.length === 1 ? String(first.id) : null;
  return { ...facts, levels: Object.fromEntries(levels), alert };
}

const counts = <T>(all: readonly T[]): [T, number][] =>
  [...Map.groupBy(all, (one) => one)].map(([one, of]) => [one, of.length]);

const mostOf = <T>(all: readonly T[], count: (one: T) => number): T[] =>
  [...all].sort((a, b) => count(b) - count(a));
