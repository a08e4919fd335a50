import { type ErrorCode, notFound, ServiceError } from "../kit/errors.ts";
import type { Reader } from "../store/store.ts";
import type { RuleBody, StoredRule } from "./rule.ts";

/** A row of the table. */
interface RuleRow {
  id: number;
  project_id: number;
  name: string;
  body: string;
  created_at: number;
  updated_at: number;
}

const RULE_COLUMNS = "id, project_id, name, body, created_at, updated_at";

function fromRow(row: RuleRow): StoredRule {
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
