import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";
import { queryInteger, queryLimit } from "../../ground/kit/query-fields.ts";
import type { Work } from "../../ground/kit/slices.ts";
import type { Reader } from "../../ground/store/store.ts";
import { BLOCK_LINES, lineReader } from "./line-outlines.ts";

/** A kept line as the log tail shows it (contract §3). */
export const logLine = z
  .object({
    id: z.string(),
    received_at: z.int(),
    source: z.string(),
    level: z.int(),
    message: z.string(),
    template_id: z.string(),
    template: z.string(),
    keys: z.record(z.string(), z.string()),
    tags: z.array(z.string()),
  })
  .meta({ id: "LogLine" });
export type LogLine = z.output<typeof logLine>;

export interface KeptLine {
  id: number;
  source_id: number;
  received_at: number;
  level: number;
  template_id: string;
  message: string;
  keys: string | null;
  tags: string | null;
  outline: number | null;
}

const BLOCKS_AT_ONCE = 64;
const BLOCKS = `SELECT block FROM log_blocks WHERE project_id = ? AND template_id = ? AND block < ?
  ORDER BY block DESC LIMIT ${BLOCKS_AT_ONCE}`;
const LINES = `SELECT id, source_id, received_at, level, template_id, message, keys, tags, outline FROM log_lines
  WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id DESC`;

/** What is empty is not asked for. Of a template: with every one that was merged into the same root. */
export const logTailQuery = z.strictObject({
  limit: queryLimit(200, 50),
  template: text(128).optional().describe("Id of a template."),
  q: text(200).optional().meta({
    description: "Text in the message, in upper or lower case.",
  }),
  source: text(128).optional().meta({ description: "Name of a source." }),
  level: queryInteger(0).optional().meta({ description: "This level and above." }),
  since: queryInteger(0).optional().meta({
    description: "Id of a line. How many later lines are not shown is counted in `left_out`.",
  }),
});
type LogTailQuery = z.output<typeof logTailQuery> & { rootOf: (id: string) => string };

/** Lines of the project, and blocks of everybody's lines, that are read to filter by message, source or level. */
const MOST_LOOKED = { lines: 50_000, blocks: 2_000 };
/** What a block costs, as a step of work. */
const BLOCK_COST = 1_000;

export const logTailAnswer = z.object({
  messages: z.array(logLine),
  complete: z.boolean().meta({
    description:
      "False where it ended, because very many lines aren't as asked, before enough were found.",
  }),
  left_out: z.int().meta({
    description:
      "With `since`, how many lines as asked came after it and before these; of the newest 50,000.",
  }),
});

/**
 * The newest kept lines of a project that match the query, newest last. Reads only blocks that hold such lines, so that
 * the cost doesn't depend on the number of lines. `complete`: false where `MOST_LOOKED` ended it. `left_out`: how many
 * lines came after `since` and before these. Others work between two blocks.
 */
export function* readLogTail(
  reader: Reader,
  projectId: number,
  query: LogTailQuery,
): Work<z.output<typeof logTailAnswer>> {
  const { template, limit, since = Number.POSITIVE_INFINITY } = query;
  const wanted = template ? family(reader, projectId, query.rootOf(template)) : null;
  const { lets, word } = filterOf(reader, projectId, query);
  const { whole, message } = lineReader(reader);
  const rows: KeptLine[] = [];
  const looked = { lines: 0, blocks: 0 };
  let leftOut = 0;
  /** Whether there is no need of older lines. */
  const take = (stored: KeptLine): boolean => {
    const isFull = rows.length === limit;
    if (++looked.lines > MOST_LOOKED.lines || (isFull && stored.id <= since)) return true;
    if (!lets(stored)) return false;
    if (word !== undefined && !message(stored).toLowerCase().includes(word)) return false;
    const line = whole(stored);
    if (wanted !== null && !wanted.has(line.template_id)) return false;
    if (isFull) leftOut++;
    else rows.push(line);
    return false;
  };
  for (const block of blocks(reader, projectId, wanted)) {
    if (++looked.blocks > MOST_LOOKED.blocks) break;
    const lines = reader
      .sql<[number, number, number], KeptLine>(LINES)
      .iterate(block * BLOCK_LINES, (block + 1) * BLOCK_LINES, projectId);
    let isDone = false;
    for (const line of lines) {
      isDone = take(line);
      if (isDone) break;
    }
    if (isDone) break;
    yield BLOCK_COST;
  }
  const messages = rows.reverse().map((row) => toLine(reader, projectId, row));
  const isCut = looked.lines > MOST_LOOKED.lines || looked.blocks > MOST_LOOKED.blocks;
  return { messages, complete: !isCut || rows.length === limit, left_out: leftOut };
}

const SOURCE_ID = "SELECT id FROM sources WHERE project_id = ? AND name = ?";

function filterOf(reader: Reader, projectId: number, { q, source, level }: LogTailQuery) {
  const id = source
    ? (reader.sql<[number, string], number>(SOURCE_ID).pluck().get(projectId, source) ?? -1)
    : null;
  const lets = (row: KeptLine) =>
    (id === null || row.source_id === id) && (level === undefined || row.level >= level);
  return { lets, word: q ? q.toLowerCase() : undefined };
}

const LINE = `SELECT id, source_id, received_at, level, template_id, message, keys, tags, outline FROM log_lines
  WHERE id = ? AND project_id = ?`;

/** A kept line of the project by its id; null where it was deleted or never existed. */
export function findLine(reader: Reader, projectId: number, id: string): LogLine | null {
  if (!/^\d{1,15}$/.test(id)) return null;
  const row = reader
    .sql<[id: number, projectId: number], KeptLine>(LINE)
    .get(Number(id), projectId);
  return row === undefined ? null : toLine(reader, projectId, lineReader(reader).whole(row));
}

/** The ids of a root and all its aliases. */
export function family(reader: Reader, projectId: number, root: string): Set<string> {
  const ids = new Set([root]);
  const aliases = reader
    .sql<
      [projectId: number],
      {
        id: string;
        alias_of: string;
      }
    >("SELECT id, alias_of FROM templates WHERE project_id = ? AND alias_of IS NOT NULL")
    .all(projectId);
  for (let before = 0; before !== ids.size; ) {
    before = ids.size;
    for (const { id, alias_of } of aliases) if (ids.has(alias_of)) ids.add(id);
  }
  return ids;
}

/** Numbers of the blocks with lines of the project (of the wanted templates), newest first. */
function* blocks(reader: Reader, projectId: number, wanted: Set<string> | null): Generator<number> {
  const ids = [...(wanted ?? [""])];
  const read = reader.sql<[projectId: number, id: string, before: number], number>(BLOCKS).pluck();
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const lists = ids.map((id) => read.all(projectId, id, before));
    // Below the last one of a list that was cut others may still miss.
    const cut = lists.filter(({ length }) => length === BLOCKS_AT_ONCE);
    const least = Math.max(...cut.map((list) => list.at(-1) as number));
    const found = new Set(lists.flat().filter((block) => block >= least));
    yield* [...found].sort((x, y) => y - x);
    if (cut.length === 0) return;
    before = least;
  }
}

export function toLine(reader: Reader, projectId: number, row: KeptLine): LogLine {
  const source = reader
    .sql<[source_id: number], string>("SELECT name FROM sources WHERE id = ?")
    .pluck()
    .get(row.source_id);
  const template = reader
    .sql<[projectId: number, template_id: string], string>(
      "SELECT text FROM templates WHERE project_id = ? AND id = ?",
    )
    .pluck()
    .get(projectId, row.template_id);
  return {
    id: String(row.id),
    received_at: row.received_at,
    source: source ?? "",
    level: row.level,
    message: row.message,
    template_id: row.template_id,
    template: template ?? "",
    keys: row.keys === null ? {} : (JSON.parse(row.keys) as Record<string, string>),
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
  };
}
