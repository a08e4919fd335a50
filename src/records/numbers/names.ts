import type { Reader } from "../../ground/store/store.ts";
import { dateText } from "./days.ts";
import type { NumbersBy } from "./shape.ts";

interface Named {
  key: string;
  name: string;
}

const PEOPLE =
  "SELECT id, id AS key, coalesce(nullif(display_name, ''), email) AS name FROM accounts";
const PROJECTS = "SELECT CAST(id AS TEXT) AS id, name AS key, name FROM projects";
const RULES = `SELECT CAST(r.id AS TEXT) AS id, p.name || '/' || r.name AS key, r.name FROM rules r
  JOIN projects p ON p.id = r.project_id`;

/** How rows are called, by what the sums are kept under; null: of who is gone, and of what, nothing is shown. */
export function rowNames(reader: Reader, by: NumbersBy): (id: string) => Named | null {
  if (by === "day" || by === "week")
    return (id) => ({ key: dateText(Number(id)), name: dateText(Number(id)) });
  if (by === "level") return (id) => ({ key: id, name: id });
  const sql = { person: PEOPLE, project: PROJECTS, rule: RULES }[by];
  const known = new Map(
    reader
      .sql<[], Named & { id: string }>(sql)
      .all()
      .map(({ id, key, name }) => [id, { key, name }]),
  );
  if (by !== "rule") return (id) => known.get(id) ?? null;
  return (id) => known.get(id) ?? { key: `#${id}`, name: `a deleted rule (${id})` };
}
