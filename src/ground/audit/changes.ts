import type { WatchedTable } from "./watched.ts";

/** A row as the audit reads it. */
export interface Image {
  id: string | number;
  name: string | number;
  /** The project's row id; null for a row that is in no project. */
  project: number | null;
  columns: Readonly<Record<string, string | number | null>>;
}

/** One changed field of a thing. A value is null where there was none before, or is none after. */
export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Characters of a value, as JSON, that are stored. A longer value is cut. */
const MOST_CHARS = 2_000;

/** The fields that differ. Of a thing that was made or deleted: every field that has a value. */
export function changesOf(
  { fields }: WatchedTable,
  { before, after }: { before: Image | null; after: Image | null },
): FieldChange[] {
  return Object.entries(fields).flatMap(([column, [field, told]]) => {
    const from = before?.columns[column] ?? null;
    const to = after?.columns[column] ?? null;
    if (from === to) return [];
    if (told === "secret") return [{ field, from: covered(from), to: covered(to) }];
    if (told === "json") return jsonChanges(field, from, to);
    const shown = (value: string | number | null) =>
      told === "flag" && value !== null ? value !== 0 : value;
    return [change(field, shown(from), shown(to))];
  });
}

/** Of a secret the audit stores only whether there is one. */
function covered(value: unknown): "changed" | null {
  return value === null || value === "" ? null : "changed";
}

function jsonChanges(field: string, from: unknown, to: unknown): FieldChange[] {
  const [was, is] = [parsed(from), parsed(to)];
  if (!isObject(was ?? {}) || !isObject(is ?? {})) return differing(field, was, is);
  const [old, now] = [(was ?? {}) as object, (is ?? {}) as object];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].flatMap((name) =>
    differing(name, (old as never)[name] ?? null, (now as never)[name] ?? null),
  );
}

function differing(field: string, from: unknown, to: unknown): FieldChange[] {
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [change(field, from, to)];
}

const change = (field: string, from: unknown, to: unknown): FieldChange => ({
  field,
  from: shortened(from),
  to: shortened(to),
});

function shortened(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MOST_CHARS) return value;
  return `${text.slice(0, MOST_CHARS)}… (${text.length} characters)`;
}

const parsed = (value: unknown): unknown =>
  typeof value === "string" ? (JSON.parse(value) as unknown) : value;

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
