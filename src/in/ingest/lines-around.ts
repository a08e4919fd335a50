import * as z from "zod";
import { getAlertRow } from "../../core/alerts/alert.ts";
import { partsOf } from "../../core/alerts/parts.ts";
import { text } from "../../ground/kit/fields.ts";
import { queryInteger, queryLimit } from "../../ground/kit/query-fields.ts";
import { cut } from "../../ground/kit/text.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader } from "../../ground/store/store.ts";
import { BLOCK_LINES, lineReader } from "./line-outlines.ts";
import { family, type KeptLine, logLine, toLine } from "./logtail.ts";

/** Kept lines of an alert's project around a time, and the variable parts in those of the alert's template. */

export const linesAround = z
  .object({
    messages: z
      .array(
        logLine
          .extend({
            parts: z.array(z.object({ text: z.string(), variable: z.boolean() })).meta({
              description: "The message, with what its template leaves open.",
            }),
          })
          .meta({ id: "MarkedLine" }),
      )
      .meta({ description: "Oldest first: those nearest to the alert's opening." }),
    variables: z
      .array(
        z.object({
          position: z.int().meta({ description: "Of the template's variable parts, from 1." }),
          values: z
            .array(z.object({ value: z.string(), count: z.int() }))
            .meta({ description: "The most frequent first; of each the first 200 characters." }),
        }),
      )
      .meta({ description: "Of the lines shown that are of the alert's own template." }),
    complete: z.boolean().meta({ description: "false: there are more in this time." }),
  })
  .meta({ id: "LinesAround" });
export type LinesAround = z.output<typeof linesAround>;
type MarkedLine = LinesAround["messages"][number];

/** Both times inclusive. */
export const aroundQuery = z.strictObject({
  after: queryInteger(0)
    .describe("Unix seconds. Default: five minutes before the alert opened.")
    .optional(),
  before: queryInteger(0)
    .describe("Unix seconds. Default: five minutes after the alert opened.")
    .optional(),
  source: text(128).optional().describe("Name of a source."),
  template: text(128).optional().describe("Id of a template."),
  q: text(200).describe("Text in the message, in upper or lower case.").optional(),
  min_level: queryInteger(0).describe("This level and above.").optional(),
  limit: queryLimit(500, 100),
});
type AroundQuery = z.output<typeof aroundQuery>;

const USUAL_SECONDS = 300;
/** Lines that are read on either side. */
const MOST_LOOKED = 10_000;
const LONGEST_VALUE = 200;

/** Throws 404. `rootOf`: the present root of a template id. */
export function readLinesAround(
  reader: Reader,
  alert: number,
  { query, rootOf }: { query: AroundQuery; rootOf: (projectId: number, id: string) => string },
): LinesAround {
  const { project_id: projectId, opened_at, template_id } = getAlertRow(reader, alert);
  const { after = opened_at - USUAL_SECONDS, before = opened_at + USUAL_SECONDS, limit } = query;
  const root = (id: string) => rootOf(projectId, id);
  const { template } = query;
  const families = template === undefined ? null : family(reader, projectId, root(template));
  const take: Take = {
    reader,
    projectId,
    families,
    limit,
    lets: filterOf(reader, projectId, query),
    from: after,
    until: before,
  };
  const pivot =
    ownLine(take, { at: opened_at, own: family(reader, projectId, root(template_id)) }) ??
    firstSince(reader, Math.min(Math.max(opened_at, after), before + 1));
  const [older, newer] = [walk(take, pivot, "back"), walk(take, pivot, "on")];
  const half = Math.max(Math.ceil(limit / 2), limit - newer.rows.length);
  const early = older.rows.slice(0, half);
  const late = newer.rows.slice(0, limit - early.length);
  const isCut = early.length < older.rows.length || late.length < newer.rows.length;
  const textOf = texts(reader, projectId);
  const messages = [...early.reverse(), ...late].map((row) => {
    const line = toLine(reader, projectId, row);
    const text = textOf(root(line.template_id)) ?? line.template;
    return { ...line, parts: partsOf(line.message, text) };
  });
  const own = messages.filter((line) => root(line.template_id) === root(template_id));
  return {
    messages,
    variables: variablesOf(own),
    complete: !isCut && older.isWhole && newer.isWhole,
  };
}

/**
 * The id of the line that opened the alert: the last of its template by then. The nearest lines to it are shown,
 * because many others can have the same second. null where the query excludes it.
 */
function ownLine(
  { reader, projectId, from, until }: Take,
  { at, own }: { at: number; own: ReadonlySet<string> },
): number | null {
  if (at < from || at > until) return null;
  const asked = { reader, projectId, families: own, lets: () => true, from, until: at, limit: 0 };
  return walk(asked, firstSince(reader, at + 1), "back").rows[0]?.id ?? null;
}

interface Take {
  reader: Reader;
  projectId: number;
  families: ReadonlySet<string> | null;
  lets: (row: KeptLine) => boolean;
  from: number;
  until: number;
  limit: number;
}

const SOURCE = "SELECT id FROM sources WHERE project_id = ? AND name = ?";

function filterOf(
  reader: Reader,
  projectId: number,
  { source, q, min_level = Number.NEGATIVE_INFINITY }: AroundQuery,
): (row: KeptLine) => boolean {
  const sourceId =
    source === undefined
      ? undefined
      : (reader.sql<SqlValue[], number>(SOURCE).pluck().get(projectId, source) ?? -1);
  const word = q?.toLowerCase();
  return ({ source_id, message, level }) =>
    level >= min_level &&
    (sourceId === undefined || source_id === sourceId) &&
    (word === undefined || message.toLowerCase().includes(word));
}

const NEXT = "SELECT id, received_at FROM log_lines WHERE id >= ? ORDER BY id LIMIT 1";
// Both in one SELECT would read every line.
const ENDS =
  "SELECT (SELECT min(id) FROM log_lines) AS first, (SELECT max(id) FROM log_lines) AS last";

/** The id of the first line at `at` or later; past the last where there is none. Lines are in order of time. */
function firstSince(reader: Reader, at: number): number {
  const ends = reader.sql<[], { first: number | null; last: number | null }>(ENDS).get() as {
    first: number | null;
    last: number | null;
  };
  let [low, high] = [ends.first ?? 0, (ends.last ?? -1) + 1];
  const next = reader.sql<[id: number], { id: number; received_at: number }>(NEXT);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = next.get(middle);
    if (line === undefined || line.received_at >= at) high = middle;
    else low = line.id + 1;
  }
  return low;
}

const COLUMNS = "id, source_id, received_at, level, template_id, message, keys, tags, outline";
const WAYS = {
  back: {
    blocks: "block <= ? ORDER BY block DESC",
    lines: `SELECT ${COLUMNS} FROM log_lines WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id DESC`,
  },
  on: {
    blocks: "block >= ? ORDER BY block",
    lines: `SELECT ${COLUMNS} FROM log_lines WHERE id >= ? AND id < ? AND project_id = ? ORDER BY id`,
  },
};

/** Blocks of one template that are read. */
const MOST_BLOCKS = 200;

/** The lines nearest to `pivot` on one side of it, the nearest first. */
function walk(
  { reader, projectId, families, lets, from, until, limit }: Take,
  pivot: number,
  way: "back" | "on",
): { rows: KeptLine[]; isWhole: boolean } {
  const rows: KeptLine[] = [];
  const { blocks, lines } = WAYS[way];
  const here = Math.floor(pivot / BLOCK_LINES);
  const text = `SELECT block FROM log_blocks WHERE project_id = ? AND template_id = ? AND ${blocks} LIMIT ${MOST_BLOCKS}`;
  const held = [...(families ?? [""])].flatMap((id) =>
    reader.sql<SqlValue[], number>(text).pluck().all(projectId, id, here),
  );
  const order = [...new Set(held)].sort((a, b) => (way === "on" ? a - b : b - a));
  const { whole } = lineReader(reader);
  let looked = 0;
  for (const block of order) {
    const [low, high] = [block * BLOCK_LINES, (block + 1) * BLOCK_LINES];
    const [first, end] = way === "on" ? [Math.max(low, pivot), high] : [low, Math.min(high, pivot)];
    const found = reader.sql<SqlValue[], KeptLine>(lines).iterate(first, end, projectId);
    for (const stored of found) {
      const row = whole(stored);
      if (row.received_at < from || row.received_at > until) return { rows, isWhole: true };
      if (++looked > MOST_LOOKED || rows.length > limit) return { rows, isWhole: false };
      if ((families === null || families.has(row.template_id)) && lets(row)) rows.push(row);
    }
  }
  return { rows, isWhole: held.length < MOST_BLOCKS };
}

const TEXT = "SELECT text FROM templates WHERE project_id = ? AND id = ?";

function texts(reader: Reader, projectId: number): (id: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (id) => {
    if (!known.has(id))
      known.set(id, reader.sql<SqlValue[], string>(TEXT).pluck().get(projectId, id));
    return known.get(id);
  };
}

function variablesOf(lines: readonly MarkedLine[]): LinesAround["variables"] {
  const counts: Map<string, number>[] = [];
  for (const { parts } of lines)
    for (const [i, { text }] of parts.filter(({ variable }) => variable).entries()) {
      const values = counts[i] ?? new Map<string, number>();
      counts[i] = values;
      const value = cut(text, LONGEST_VALUE);
      values.set(value, (values.get(value) ?? 0) + 1);
    }
  return counts.map((values, i) => ({
    position: i + 1,
    values: [...values]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count),
  }));
}
