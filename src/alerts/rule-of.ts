import type { StoredRule } from "../projects/rule.ts";
import { type RuleRow, ruleOf } from "../projects/rules.ts";
import type { Reader } from "../store/store.ts";

const RULE = "SELECT id, project_id, name, body, created_at, updated_at FROM rules WHERE id = ?";

/** A rule by its row id; null once it is deleted (its alerts stay). Prepared: it is asked at every rung. */
export function findRule(reader: Reader, id: number): StoredRule | null {
  const row = reader.sql<[id: number], RuleRow>(RULE).get(id);
  return row === undefined ? null : ruleOf(row);
}
