import type { Reader } from "../store/store.ts";
import type { RuleBody, StoredRule } from "./rule.ts";

/** A row of the table. */
export interface RuleRow {
  id: number;
  project_id: number;
  name: string;
  body: string;
  created_at: number;
  updated_at: number;
}

export const RULE_COLUMNS = "id, project_id, name, body, created_at, updated_at";

export function fromRow(row: RuleRow): StoredRule {
  const { body, ...rest } = row;
  return { ...rest, ...(JSON.parse(body) as RuleBody) };
}

/** A rule by its row id; null once it is deleted (its alerts stay). */
export function findRule(reader: Reader, id: number): StoredRule | null {
  const row = reader.sql(`SELECT ${RULE_COLUMNS} FROM rules WHERE id = ?`).get(id);
  return row === undefined ? null : fromRow(row as RuleRow);
}

/** Every project's rules. */
export function listAllRules(reader: Reader): StoredRule[] {
  return (reader.sql(`SELECT ${RULE_COLUMNS} FROM rules`).all() as RuleRow[]).map(fromRow);
}
