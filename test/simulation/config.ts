import { listLadders } from "../../src/core/projects/ladders.ts";
import { getProject } from "../../src/core/projects/projects.ts";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import { getRule } from "../../src/core/projects/rules.ts";
import type { Store } from "../../src/ground/store/store.ts";
import { channels } from "../../src/out/services/list.ts";
import type { Applied } from "../../src/records/config-file/applied.ts";
import { type ApplyOptions, applyConfig } from "../../src/records/config-file/apply.ts";
import { readConfig } from "../../src/records/config-file/read.ts";
import type { RuleConfig } from "../../src/records/config-file/shape.ts";
import { tryConfig } from "../../src/records/config-file/try.ts";

/** Somebody edits the file in the middle of an incident: the whole configuration as it is read, with other rules. */

type Edit = (rules: RuleConfig[]) => RuleConfig[];

/** Null where its rules, or the ladders that they refer to, name somebody who is gone: a file can't. */
function edited(store: Store, edit: Edit): ApplyOptions | null {
  const project = getProject(store, "p");
  const config = readConfig(store, project, channels);
  const rules = edit(config.rules);
  const people = new Set(store.sql<[], string>("SELECT email FROM accounts").pluck().all());
  const used = new Set(rules.map(({ ladder }) => ladder));
  const shared = listLadders(store).filter(({ name }) => used.has(name));
  const named = [
    ...rules.flatMap(({ escalations }) => escalations.flatMap(({ accounts }) => accounts)),
    ...shared.flatMap(({ steps }) => steps.flatMap(({ accounts }) => accounts)),
    ...config.schedules.flatMap(({ layers }) => layers.flatMap((layer) => layer.participants)),
  ];
  if (!named.every((one) => one === null || people.has(one))) return null;
  const guard = { channels } as ApplyOptions["guard"];
  const of = { name: "p", version: project.version, tenantId: "t", guard, by: "ann" };
  return { ...of, config: { ...config, rules } };
}

function apply(store: Store, edit: Edit): Applied | null {
  const options = edited(store, edit);
  return options && store.write((tx) => applyConfig(tx, options));
}

export function renameByConfig(store: Store, { from, to }: { from: string; to: string }): boolean {
  const renamed = (rule: RuleConfig) => (rule.name === from ? { ...rule, name: to } : rule);
  return apply(store, (rules) => rules.map(renamed)) !== null;
}

/** The rule's row, and the alerts of which nobody is told any more, as a try says before and as it is said after. */
export interface Dropped {
  id: number;
  before: number[];
  after: number[];
}

export function dropByConfig(store: Store, name: string): Dropped | null {
  const { id } = getRule(store, getProject(store, "p").id, name);
  const others: Edit = (rules) => rules.filter((rule) => rule.name !== name);
  const options = edited(store, others);
  if (options === null) return null;
  const before = endsOf(tryConfig(store, options));
  return { id, before, after: endsOf(store.write((tx) => applyConfig(tx, options))) };
}

const endsOf = ({ ladders_end: ends }: Applied): number[] =>
  ends.flatMap(({ alerts }) => alerts.map(Number));

/** The row of the rule that was made; null where it names somebody who is gone. */
export function addByConfig(store: Store, rule: { name: string; body: RuleBody }): number | null {
  const { name, body } = rule;
  if (apply(store, (rules) => [...rules, { name, ...body }]) === null) return null;
  return getRule(store, getProject(store, "p").id, name).id;
}
