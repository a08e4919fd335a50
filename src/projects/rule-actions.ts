import type { Reader } from "../store/store.ts";
import { type Rule, type RunsAction, type StoredRule, toRule } from "./rule.ts";

/** Rules of one project as they are read, each with the actions that it runs as things stand. */
export function readRules(reader: Reader, projectId: number, rules: readonly StoredRule[]): Rule[] {
  const enabled = enabledActions(reader, projectId);
  return rules.map((rule) => toRule(rule, runBy(rule, enabled)));
}

export function readRule(reader: Reader, rule: StoredRule): Rule {
  return toRule(rule, runBy(rule, enabledActions(reader, rule.project_id)));
}

/** Every one where the rule names none, else those of its own that are enabled. */
function runBy({ actions }: StoredRule, enabled: RunsAction[]): RunsAction[] {
  return actions === null ? enabled : enabled.filter(({ id }) => actions.includes(id));
}

function enabledActions(reader: Reader, projectId: number): RunsAction[] {
  const rows = reader
    .sql(
      `SELECT id, name, event_filter AS filter FROM actions
       WHERE project_id = ? AND enabled = 1 ORDER BY name`,
    )
    .all(projectId) as { id: string; name: string; filter: string }[];
  return rows.map(({ id, name, filter }) => ({ id, name, events: filter.split(",") }));
}
