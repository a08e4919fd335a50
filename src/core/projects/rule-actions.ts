import { and, asc, eq } from "drizzle-orm";
import { actions } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type Rule, type RunsAction, type StoredRule, toRule } from "./rule.ts";

/** Rules of one project as they are read, each with the actions that it runs as things stand. */
export function readRules(reader: Reader, projectId: number, rules: readonly StoredRule[]): Rule[] {
  const enabled = enabledActions(reader, projectId);
  return rules.map((rule) => toRule(rule, runBy(rule, enabled)));
}

/** Every one where the rule names none, else those of its own that are enabled. */
function runBy({ actions }: StoredRule, enabled: RunsAction[]): RunsAction[] {
  return actions === null ? enabled : enabled.filter(({ id }) => actions.includes(id));
}

function enabledActions(reader: Reader, projectId: number): RunsAction[] {
  return reader.orm
    .select({ id: actions.id, name: actions.name, filter: actions.eventFilter })
    .from(actions)
    .where(and(eq(actions.projectId, projectId), eq(actions.enabled, true)))
    .orderBy(asc(actions.name))
    .all()
    .map(({ id, name, filter }) => ({ id, name, events: filter.split(",") }));
}
