import { retimeAlerts } from "../alerts/retime.ts";
import { type ErrorCode, notFound, ServiceError } from "../kit/errors.ts";
import type { Reader, Tx } from "../store/store.ts";
import { changeConfig, type Project } from "./projects.ts";
import type { RuleBody, StoredRule } from "./rule.ts";
import { checkRuleReferences } from "./rule-references.ts";
import { fromRow, RULE_COLUMNS, type RuleRow } from "./rule-row.ts";

export function listRules(reader: Reader, projectId: number): StoredRule[] {
  const rows = reader
    .sql(`SELECT ${RULE_COLUMNS} FROM rules WHERE project_id = ? ORDER BY name`)
    .all(projectId);
  return (rows as RuleRow[]).map(fromRow);
}

/** Throws 404. */
export function getRule(reader: Reader, projectId: number, name: string): StoredRule {
  const row = reader
    .sql(`SELECT ${RULE_COLUMNS} FROM rules WHERE project_id = ? AND name = ?`)
    .get(projectId, name);
  if (row === undefined) throw notFound("rule");
  return fromRow(row as RuleRow);
}

/** Throws 409 for a taken name, 422 for accounts, schedules or actions that don't exist here. */
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

/** Throws 409 `code` listing the rules of the project that `names` picks out. */
export function mustBeUnnamed(
  reader: Reader,
  projectId: number,
  use: { code: ErrorCode; what: string; names: (rule: RuleBody) => boolean },
): void {
  const naming = listRules(reader, projectId).filter(use.names);
  if (naming.length === 0) return;
  throw new ServiceError(
    use.code,
    `Rules still name this ${use.what}: ${naming.map((rule) => rule.name).join(", ")}.`.slice(
      0,
      500,
    ),
    {
      details: naming.map((rule) => ({ reason: "named_by_rule", value: rule.name })),
    },
  );
}
