import type { Reader } from "../store/store.ts";
import { type WatchedTable, watched } from "./watched.ts";

/** A thing as it is now. `project`: the project's name; null for a thing that is in none. */
interface ThingNow {
  name: string;
  project: string | null;
}

const tables = new Map<string, [table: string, what: WatchedTable]>(
  Object.entries(watched).map(([table, what]) => [what.kind, [table, what]]),
);

/** The kinds of things in audit entries. */
export const auditKinds: readonly string[] = [...tables.keys()].toSorted();

/** Finds the thing that an entry names. null for a thing that is gone, and for a kind that has no rows. */
export function findThing(
  reader: Reader,
  { kind, id }: { kind: string; id: string },
): ThingNow | null {
  const found = tables.get(kind);
  if (found === undefined) return null;
  const [table, { id: key, name, inProject }] = found;
  const project = inProject ? "(SELECT p.name FROM projects p WHERE p.id = t.project_id)" : "NULL";
  const row = reader
    .sql<[id: string], { name: string | number; project: string | null }>(
      `SELECT t.${name} AS name, ${project} AS project FROM ${table} t WHERE t.${key} = ? LIMIT 1`,
    )
    .get(id);
  return row === undefined ? null : { ...row, name: String(row.name) };
}
