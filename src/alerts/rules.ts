import { ServiceError } from "../kit/errors.ts";
import { mustHaveRoom } from "../projects/bounds.ts";
import { changeConfig, type Project } from "../projects/projects.ts";
import type { RuleBody, StoredRule } from "../projects/rule.ts";
import { checkRuleReferences } from "../projects/rule-references.ts";
import { getRule } from "../projects/rules.ts";
import type { Tx } from "../store/store.ts";
import { retimeAlerts } from "./retime.ts";

/** Throws 409 for a taken name, 422 for accounts, schedules or actions that don't exist here and for one too many. */
export function createRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  const taken = tx
    .sql("SELECT 1 FROM rules WHERE project_id = ? AND name = ?")
    .get(project.id, rule.name);
  if (taken !== undefined)
    throw new ServiceError("name_taken", "The project has a rule of this name.");
  mustHaveRoom(tx, "rules", project.id);
  checkRuleReferences(tx, project.id, rule.body);
  tx.sql(
    "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
  ).run(project.id, rule.name, JSON.stringify(rule.body), tx.at, tx.at);
  changeConfig(tx, project.id);
  return getRule(tx, project.id, rule.name);
}

/**
 * Replaces the whole rule. What was counted towards its window before is void (decisions §5, fire_after);
 * what is timed on its standing alerts follows it.
 */
export function replaceRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  const before = getRule(tx, project.id, rule.name);
  checkRuleReferences(tx, project.id, rule.body);
  const body = JSON.stringify(rule.body);
  const changed = tx
    .sql("UPDATE rules SET body = ?, updated_at = ? WHERE id = ? AND body <> ?")
    .run(body, tx.at, before.id, body);
  if (changed.changes === 0) return before;
  tx.sql("DELETE FROM window_hits WHERE rule_id = ?").run(before.id);
  changeConfig(tx, project.id);
  const after = getRule(tx, project.id, rule.name);
  retimeAlerts(tx, before, after);
  return after;
}

/** Deletes the rule; alerts already opened stay, with nothing timed any more. Throws 404. */
export function deleteRule(tx: Tx, project: Project, name: string): void {
  const rule = getRule(tx, project.id, name);
  tx.sql("DELETE FROM rules WHERE id = ?").run(rule.id);
  retimeAlerts(tx, rule, null);
  changeConfig(tx, project.id);
}
