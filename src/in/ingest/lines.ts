import type { Source } from "../../core/projects/sources.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";
import { BLOCK_LINES, createLineOutlines } from "./line-outlines.ts";
import type { LineTexts } from "./outline.ts";

/** Rows of one INSERT, largest first. */
const CHUNKS = [64, 16, 4, 1] as const;
const COLUMNS = 10;

const INSERTS = new Map(
  CHUNKS.map((n) => [
    n,
    `INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message, keys, tags, outline) VALUES ${Array(n).fill("(?,?,?,?,?,?,?,?,?,?)").join(",")}`,
  ]),
);
const BLOCK = "INSERT OR IGNORE INTO log_blocks (project_id, template_id, block) VALUES (?, ?, ?)";

/** Appends the lines of sources that keep them, many rows in one statement. */
export type LineWriter = ReturnType<typeof createLineWriter>;

interface WaitingLine {
  projectId: number;
  sourceId: number;
  at: number;
  level: number;
  templateId: string;
  texts: LineTexts;
}

export function createLineWriter() {
  let waiting: WaitingLine[] = [];
  const outlines = createLineOutlines();
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
    add({
      source,
      at,
      templateId,
      event,
    }: {
      source: Source;
      at: number;
      templateId: string;
      event: IngestEvent;
    }) {
      waiting.push({
        projectId: source.projectId,
        sourceId: source.id,
        at,
        level: event.level,
        templateId,
        texts: {
          message: event.message,
          keys: event.keys === null ? null : JSON.stringify(event.keys),
          tags: event.tags === null ? null : JSON.stringify(event.tags),
        },
      });
    },
    flush(tx: Tx) {
      if (waiting.length === 0) return;
      let id = last ?? startFrom(tx);
      const values: SqlValue[] = [];
      for (const line of waiting) {
        const { projectId, templateId } = line;
        markBlock(tx, ++id, line);
        const stored = outlines.store(tx, { id, projectId, templateId }, line.texts);
        const { template_id, message, keys, tags, outline } = stored;
        values.push(id, projectId, line.sourceId, line.at, line.level, template_id);
        values.push(message, keys, tags, outline);
      }
      insertAll(tx, values, waiting.length);
      last = id;
      waiting = [];
    },
    clear() {
      waiting = [];
      outlines.clear();
      last = null;
      block = -1;
      inBlock.clear();
    },
  };
}

function insertAll(tx: Tx, values: SqlValue[], rows: number): void {
  let done = 0;
  for (const n of CHUNKS) {
    for (; rows - done >= n; done += n) {
      tx.sql<SqlValue[]>(INSERTS.get(n) as string).run(
        ...values.slice(done * COLUMNS, (done + n) * COLUMNS),
      );
    }
  }
}
