import type { Source } from "../../core/projects/sources.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";

/** Lines of one block: log_blocks refers to blocks, so that lines need no index but their id. */
export const BLOCK_LINES = 1024;

/** Rows of one INSERT, largest first. */
const CHUNKS = [64, 16, 4, 1] as const;
const COLUMNS = 9;

const INSERTS = new Map(
  CHUNKS.map((n) => [
    n,
    `INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message, keys, tags) VALUES ${Array(n).fill("(?,?,?,?,?,?,?,?,?)").join(",")}`,
  ]),
);
const BLOCK = "INSERT OR IGNORE INTO log_blocks (project_id, template_id, block) VALUES (?, ?, ?)";

/** Appends the lines of sources that keep them, many rows in one statement. */
export interface LineWriter {
  add(line: { source: Source; at: number; templateId: string; event: IngestEvent }): void;
  flush(tx: Tx): void;
  clear(): void;
}

export function createLineWriter(): LineWriter {
  let values: (string | number | null)[] = [];
  let places: { projectId: number; templateId: string }[] = [];
  /** The id of the newest line; unknown after a start or a rollback until first needed. */
  let last: number | null = null;
  let block = -1;
  const inBlock = new Set<string>();

  const startFrom = (tx: Tx): number => {
    const newest = tx.sql<[], number | null>("SELECT max(id) FROM log_lines").pluck().get();
    return Math.max(newest ?? 0, Number(getMeta(tx, "log_line_id") ?? 0));
  };

  const markBlock = (tx: Tx, id: number, place: { projectId: number; templateId: string }) => {
    const here = Math.floor(id / BLOCK_LINES);
    if (here !== block) {
      block = here;
      inBlock.clear();
      // Ids are never used twice, even after retention deleted the newest line.
      setMeta(tx, "log_line_id", id);
    }
    const name = `${place.projectId}:${place.templateId}`;
    if (inBlock.has(name)) return;
    inBlock.add(name);
    tx.sql<[projectId: number, templateId: string, here: number]>(BLOCK).run(
      place.projectId,
      place.templateId,
      here,
    );
    tx.sql<[number, string, number]>(BLOCK).run(place.projectId, "", here);
  };

  return {
    add({ source, at, templateId, event }) {
      values.push(
        0,
        source.projectId,
        source.id,
        at,
        event.level,
        templateId,
        event.message,
        event.keys === null ? null : JSON.stringify(event.keys),
        event.tags === null ? null : JSON.stringify(event.tags),
      );
      places.push({ projectId: source.projectId, templateId });
    },
    flush(tx) {
      if (places.length === 0) return;
      let id = last ?? startFrom(tx);
      for (let i = 0; i < places.length; i++) {
        values[i * COLUMNS] = ++id;
        markBlock(tx, id, places[i] as (typeof places)[number]);
      }
      insertAll(tx, values, places.length);
      last = id;
      values = [];
      places = [];
    },
    clear() {
      values = [];
      places = [];
      last = null;
      block = -1;
      inBlock.clear();
    },
  };
}

function insertAll(tx: Tx, values: (string | number | null)[], rows: number): void {
  let done = 0;
  for (const n of CHUNKS) {
    for (; rows - done >= n; done += n) {
      tx.sql<SqlValue[]>(INSERTS.get(n) as string).run(
        ...values.slice(done * COLUMNS, (done + n) * COLUMNS),
      );
    }
  }
}
