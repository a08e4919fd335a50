import { idsIn } from "../kit/id-names.ts";
import type { Reader } from "../store/store.ts";
import { type AuditEntry, LOOKED_AT, newestId } from "./list.ts";
import { watched } from "./watched.ts";

/** The names of these entries' ids: of things that exist, and of removed accounts by their last name. */
export function calledIn(reader: Reader, entries: readonly AuditEntry[]): Record<string, string> {
  const ids = new Set(entries.flatMap((entry) => idsIn(JSON.stringify(entry))));
  const called: Record<string, string> = {};
  for (const [table, { id, name }] of NAMED) {
    const sql = `SELECT ${name} FROM ${table} WHERE ${id} = ?`;
    for (const one of ids) {
      if (called[one] !== undefined) continue;
      const found = reader.sql<[id: string], string>(sql).pluck().get(one);
      if (found !== undefined && found !== "") called[one] = String(found);
    }
  }
  const gone = [...ids].filter((one) => called[one] === undefined);
  const was = reader.sql<[after: number, ids: string], [id: string, name: string]>(REMOVED).raw();
  for (const [id, name] of was.all(newestId(reader) - LOOKED_AT, JSON.stringify(gone)))
    if (name !== "") called[id] = name;
  return called;
}

const TEMPLATE = { id: "t.id", name: "t.text" };

/** Tables of things that have both an id and a name. People come first: most entries name one. */
const NAMED = [
  ...Object.entries(watched)
    .filter(([, { id, name }]) => id === "id" && name !== "id")
    .toSorted(([one], [other]) => Number(other === "accounts") - Number(one === "accounts")),
  ["projects p CROSS JOIN templates t ON t.project_id = p.id", TEMPLATE] as const,
];

const REMOVED = `SELECT target_id, target_name FROM audit
  WHERE id > ? AND kind = 'account' AND target_id IN (SELECT value FROM json_each(?)) ORDER BY id`;
