import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { BLOCK_LINES } from "./line-outlines.ts";

/** Deletes log lines that are too old or too many, a few at a time. Each function returns whether there may be more. */

interface LineAge {
  id: number;
  received_at: number;
}

/** Deletes the oldest lines: those received before `before`, and any while the store has too many bytes (`over`). */
export function sweepLines(tx: Tx, most: number, gone: { before: number; over: boolean }): boolean {
  const oldest = oldestLine(tx);
  if (oldest === null || (!gone.over && oldest >= gone.before)) return false;
  const rows = tx
    .sql<[most: number], LineAge>("SELECT id, received_at FROM log_lines ORDER BY id LIMIT ?")
    .all(most);
  const old = gone.over ? rows : rows.filter((row) => row.received_at < gone.before);
  const last = old.at(-1);
  if (last === undefined) return false;
  // The id of the newest line is kept, because the next line gets that plus one.
  if (rows.length < most) setMeta(tx, "log_line_id", Math.max(last.id, newestLine(tx)));
  tx.sql<[last: number]>("DELETE FROM log_lines WHERE id <= ?").run(last.id);
  return old.length === most;
}

/** The time of the oldest kept line, in Unix seconds; null where there is none. */
export function oldestLine(reader: Reader): number | null {
  const oldest = reader
    .sql<[], number>("SELECT received_at FROM log_lines ORDER BY id LIMIT 1")
    .pluck()
    .get();
  return oldest ?? null;
}

function newestLine(tx: Tx): number {
  return tx.sql<[], number | null>("SELECT max(id) FROM log_lines").pluck().get() ?? 0;
}

/** Goes from project to project: a look at every block would take as long as all lines are many, each minute. */
const ORPHAN = `WITH RECURSIVE p (id) AS (SELECT min(project_id) FROM log_blocks UNION ALL
    SELECT (SELECT min(project_id) FROM log_blocks WHERE project_id > p.id) FROM p WHERE p.id IS NOT NULL)
  SELECT project_id AS projectId, block FROM log_blocks
    WHERE project_id = (SELECT id FROM p WHERE id NOT IN (SELECT id FROM projects) LIMIT 1) LIMIT 1`;

/** Deletes lines of deleted projects, one block of ids at a time. */
export function sweepOrphanLines(tx: Tx): boolean {
  const orphan = tx.sql<[], { projectId: number; block: number }>(ORPHAN).get();
  if (orphan === undefined) return false;
  const { projectId, block } = orphan;
  const from = block * BLOCK_LINES;
  tx.sql<[from: number, until: number, project: number]>(
    "DELETE FROM log_lines WHERE id >= ? AND id < ? AND project_id = ?",
  ).run(from, from + BLOCK_LINES, projectId);
  tx.sql<[from: number, until: number, project: number]>(
    "DELETE FROM line_outlines WHERE id >= ? AND id < ? AND project_id = ?",
  ).run(from, from + BLOCK_LINES, projectId);
  tx.sql<[project: number, block: number]>(
    "DELETE FROM log_blocks WHERE project_id = ? AND block = ?",
  ).run(projectId, block);
  return true;
}

const DROP_BLOCKS = `DELETE FROM log_blocks WHERE (project_id, template_id, block) IN
  (SELECT project_id, template_id, block FROM log_blocks WHERE block = ? LIMIT ?)`;

/** Deletes index entries and outlines of blocks without lines. */
export function sweepBlocks(tx: Tx, most: number): boolean {
  const least = (text: string) => tx.sql<[], number | null>(text).pluck().get() ?? null;
  const oldest = least("SELECT min(id) FROM log_lines");
  const block = least("SELECT min(block) FROM log_blocks");
  // Lines that come go into the block of the newest id, also where no line is left.
  const first = oldest ?? Number(getMeta(tx, "log_line_id") ?? 0);
  if (block === null || (block + 1) * BLOCK_LINES > first) return false;
  tx.sql<[before: number]>("DELETE FROM line_outlines WHERE id < ?").run((block + 1) * BLOCK_LINES);
  return tx.sql<[block: number, most: number]>(DROP_BLOCKS).run(block, most).changes > 0;
}
