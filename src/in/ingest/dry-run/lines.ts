import { ForgetfulMap } from "../../../ground/kit/forgetful-map.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { IngestEvent } from "../event.ts";
import { BLOCK_LINES, lineReader } from "../line-outlines.ts";
import { createMiner, type Miner, type MinerRow } from "../template/miner.ts";
import { Namer } from "../template/naming/general.ts";
import { Shaper } from "../template/reading/shape.ts";
import { hasNames, textOfShape } from "../template/text/marks.ts";
import type { DryLine } from "./dry-line.ts";

type Text = DryLine["text"];

/** Texts that are remembered. */
const MOST_TEXTS = 20_000;

const TEMPLATES =
  "SELECT id, shape, text, alias_of AS aliasOf, state FROM templates WHERE project_id = ?";

/** The project's present templates, by the ids that its lines have. */
export function keptTexts(
  reader: Reader,
  projectId: number,
): (id: string, message: string) => Text {
  const rows = new Map(
    reader
      .sql<[projectId: number], MinerRow>(TEMPLATES)
      .all(projectId)
      .map((row) => [row.id, row]),
  );
  const roots = new Map<string, Text["root"]>();
  const texts = new ForgetfulMap<string, Text>(MOST_TEXTS);
  const shaper = new Shaper();
  const namer = new Namer();
  const rootOf = (row: MinerRow): Text["root"] => {
    const above = row.aliasOf === null ? undefined : rows.get(row.aliasOf);
    if (above !== undefined) return rootOf(above);
    const root = roots.get(row.id) ?? { id: row.id, text: row.text };
    roots.set(row.id, root);
    return root;
  };
  /** Of a template that the project has deleted because it was long unused. */
  const rootOfDeleted = (id: string, shape: string): Text["root"] => {
    const root = roots.get(id) ?? { id, text: textOfShape(namer.generalOf(shape)) };
    roots.set(id, root);
    return root;
  };
  return (id, message) => {
    const row = rows.get(id);
    // Lines of a shape with names have texts of their own.
    const isOwn = row === undefined || hasNames(row.shape);
    const shape = isOwn ? shaper.shapeOf(message) : row.shape;
    const key = isOwn ? `${id} ${shape}` : id;
    const known = texts.get(key);
    if (known !== undefined) return known;
    const root = row === undefined ? rootOfDeleted(id, shape) : rootOf(row);
    const text = { root, ownText: textOfShape(shape) };
    texts.set(key, text);
    return text;
  };
}

const MOST_TEMPLATES = 100_000;

/** A miner with all that the project's knows. */
export function minerOf(reader: Reader, projectId: number): Miner {
  const rows = reader.sql<[projectId: number], MinerRow>(TEMPLATES).all(projectId);
  return createMiner({ limit: MOST_TEMPLATES, rows });
}

/** The id of the root of each of the project's shapes. */
export function rootsOf(reader: Reader, projectId: number): (id: string) => string {
  const rows = reader.sql<[projectId: number], MinerRow>(TEMPLATES).all(projectId);
  const above = new Map(rows.map(({ id, aliasOf }) => [id, aliasOf]));
  const rootOf = (id: string): string => {
    const next = above.get(id) ?? null;
    return next === null || !above.has(next) ? id : rootOf(next);
  };
  return rootOf;
}

interface SourceRow {
  id: number;
  name: string;
  kind: string;
  retained: number;
}

const SOURCES =
  "SELECT id, name, kind, retain_logs AS retained FROM sources WHERE project_id = ? ORDER BY name";

export function sourcesOf(reader: Reader, projectId: number): SourceRow[] {
  return reader.sql<[projectId: number], SourceRow>(SOURCES).all(projectId);
}

const BLOCKS =
  "SELECT block FROM log_blocks WHERE project_id = ? AND template_id = '' ORDER BY block";
const FIRST =
  "SELECT received_at FROM log_lines WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id LIMIT 1";
const LINES = `SELECT id, source_id AS sourceId, received_at AS at, level, template_id, message, keys, tags, outline
  FROM log_lines WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id`;

export interface LineRow {
  id: number;
  sourceId: number;
  at: number;
  level: number;
  template_id: string;
  message: string;
  keys: string | null;
  tags: string | null;
  outline: number | null;
}

/**
 * The project's kept lines since `from`, oldest first, in blocks. Each block is a read of its own, so that the WAL can
 * be checkpointed in between and retention isn't blocked. Lines that are deleted meanwhile are missing.
 */
export function* blocksSince(
  reader: Reader,
  projectId: number,
  from: number,
): Generator<LineRow[], void, void> {
  const blocks = reader.sql<[projectId: number], number>(BLOCKS).pluck().all(projectId);
  const first = reader.sql<[number, number, number], number>(FIRST).pluck();
  const lines = reader.sql<[number, number, number], LineRow>(LINES);
  const range = (block: number) => [block * BLOCK_LINES, (block + 1) * BLOCK_LINES] as const;
  const { whole } = lineReader(reader);
  let low = 0;
  for (let high = blocks.length; low < high; ) {
    const middle = (low + high) >> 1;
    const begins = first.get(...range(blocks[middle] as number), projectId);
    if (begins === undefined || begins < from) low = middle + 1;
    else high = middle;
  }
  for (const block of blocks.slice(Math.max(0, low - 1)))
    yield lines
      .all(...range(block), projectId)
      .filter(({ at }) => at >= from)
      .map(whole);
}

export function eventOf({ message, level, keys, tags }: LineRow): IngestEvent {
  return {
    message,
    level,
    keys: keys === null ? null : Object.assign(Object.create(null), JSON.parse(keys)),
    tags: tags === null ? null : (JSON.parse(tags) as string[]),
  };
}

const OLDEST = "SELECT id, received_at AS at FROM log_lines ORDER BY id LIMIT 1";
const HANDED_OUT = "SELECT value FROM meta WHERE key = 'log_line_id'";

/** Since when lines are complete, where older ones were deleted; null where none was. */
export function cutAt(reader: Reader, now: number): number | null {
  const oldest = reader.sql<[], { id: number; at: number }>(OLDEST).get();
  if (oldest !== undefined) return oldest.id > 1 ? oldest.at : null;
  return reader.sql<[]>(HANDED_OUT).get() === undefined ? null : now;
}
