import { ForgetfulMap } from "../../../ground/kit/forgetful-map.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { IngestEvent } from "../event.ts";
import { BLOCK_LINES, lineReader } from "../line-outlines.ts";
import type { KeptLine } from "../logtail.ts";
import { Miner, type MinerRow } from "../template/miner.ts";
import { Namer } from "../template/naming/general.ts";
import { Shaper } from "../template/reading/shape.ts";
import { hasNames, textOfShape } from "../template/text/marks.ts";
import type { DryLine } from "./dry-line.ts";

type Text = DryLine["text"];

/** Texts that are remembered. */
const MOST_TEXTS = 20_000;

const TEMPLATES =
  "SELECT id, shape, text, alias_of AS aliasOf, state FROM templates WHERE project_id = ?";

function storedTemplates(reader: Reader, projectId: number): Map<string, MinerRow> {
  const rows = reader.sql<[projectId: number], MinerRow>(TEMPLATES).all(projectId);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The project's present templates, by the ids that its lines have. */
export function keptTexts(
  reader: Reader,
  projectId: number,
): (id: string, message: string) => Text {
  const rows = storedTemplates(reader, projectId);
  const rootIdOf = rootsAmong(rows);
  const roots = new Map<string, Text["root"]>();
  const texts = new ForgetfulMap<string, Text>(MOST_TEXTS);
  const shaper = new Shaper();
  const namer = new Namer();
  const rootOf = (id: string, shape: string): Text["root"] => {
    const rootId = rootIdOf(id);
    let root = roots.get(rootId);
    if (root === undefined) {
      // The project deletes templates that were long unused.
      const text = rows.get(rootId)?.text ?? textOfShape(namer.generalOf(shape));
      root = { id: rootId, text };
      roots.set(rootId, root);
    }
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
    const text = { root: rootOf(id, shape), ownText: textOfShape(shape) };
    texts.set(key, text);
    return text;
  };
}

const MOST_TEMPLATES = 100_000;

/** A miner with all that the project's knows. */
export function minerOf(reader: Reader, projectId: number): Miner {
  return new Miner({
    limit: MOST_TEMPLATES,
    rows: [...storedTemplates(reader, projectId).values()],
  });
}

/** The id of the root of each of the project's shapes. */
export const rootsOf = (reader: Reader, projectId: number): ((id: string) => string) =>
  rootsAmong(storedTemplates(reader, projectId));

function rootsAmong(rows: ReadonlyMap<string, MinerRow>): (id: string) => string {
  const rootOf = (id: string): string => {
    const above = rows.get(id)?.aliasOf ?? null;
    return above === null || !rows.has(above) ? id : rootOf(above);
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
const LINES = `SELECT id, source_id, received_at, level, template_id, message, keys, tags, outline
  FROM log_lines WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id`;

/**
 * The project's kept lines since `from`, oldest first, in blocks. Each block is a read of its own, so that the WAL can
 * be checkpointed in between and retention isn't blocked. Lines that are deleted meanwhile are missing.
 */
export function* blocksSince(
  reader: Reader,
  projectId: number,
  from: number,
): Generator<KeptLine[], void, void> {
  const blocks = reader.sql<[projectId: number], number>(BLOCKS).pluck().all(projectId);
  const first = reader.sql<[number, number, number], number>(FIRST).pluck();
  const lines = reader.sql<[number, number, number], KeptLine>(LINES);
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
      .filter(({ received_at: at }) => at >= from)
      .map(whole);
}

export function eventOf({ message, level, keys, tags }: KeptLine): IngestEvent {
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
