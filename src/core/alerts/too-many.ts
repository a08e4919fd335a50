import type { Reader } from "../../ground/store/store.ts";

/** Where a rule has so many unresolved alerts that its further keys share one (contract §26, rule 2). */

/** What stands in place of a template's id in that alert: no template and no name has it. */
export const MANY = "*";

export function manyKey(ruleId: number): string {
  return `${ruleId}:${MANY}`;
}

/** Unresolved alerts of a rule, the shared one among them, drills left out. */
export function countUnresolved(reader: Reader, rule: { id: number; project_id: number }): number {
  const count = reader
    .sql<[project: number, rule: number], number>(
      "SELECT count(*) FROM alerts WHERE project_id = ? AND rule_id = ? AND state <> 'resolved' AND drill = 0",
    )
    .pluck()
    .get(rule.project_id, rule.id);
  return count ?? 0;
}

/** A rule whose further keys share an alert now. */
interface RuleAtLimit {
  project: string;
  rule: string;
  alertId: number;
  /** Events in it. */
  count: number;
  since: number;
}

const CROWDED = `SELECT p.name AS project, r.name AS rule, a.id AS alertId, a.count, a.opened_at AS since
  FROM rules r JOIN alerts a ON a.alert_key = r.id || ':${MANY}' AND a.state <> 'resolved'
  JOIN projects p ON p.id = r.project_id ORDER BY p.name, r.name`;

export function rulesAtLimit(reader: Reader): RuleAtLimit[] {
  return reader.sql<[], RuleAtLimit>(CROWDED).all();
}
