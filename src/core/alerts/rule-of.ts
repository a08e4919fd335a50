import type { Reader } from "../../ground/store/store.ts";
import { type RuleBody, ruleReplace, type StoredRule } from "../projects/rule.ts";
import { type RuleRow, ruleOf } from "../projects/rules.ts";
import type { AlertRow } from "./alert.ts";

const RULE = `SELECT r.id, r.project_id, r.name, r.body, r.created_at, r.updated_at, l.name AS ladder_name,
  l.body AS ladder_body FROM rules r LEFT JOIN ladders l ON l.id = r.ladder_id WHERE r.id = ?`;

/** A rule by its row id; null once it is deleted (its alerts stay). Prepared: it is asked at every rung. */
export function findRule(reader: Reader, id: number): StoredRule | null {
  const row = reader.sql<[id: number], RuleRow>(RULE).get(id);
  return row === undefined ? null : ruleOf(row);
}

let nothing: RuleBody | undefined;

/** What goes on of an alert whose rule is deleted: nothing is timed by it, and what it held back is told. */
export function goneRule(row: Pick<AlertRow, "rule_id" | "rule" | "project_id">): StoredRule {
  nothing ??= ruleReplace.parse({});
  return {
    id: row.rule_id,
    project_id: row.project_id,
    created_at: 0,
    updated_at: 0,
    ...nothing,
    name: row.rule,
  };
}
