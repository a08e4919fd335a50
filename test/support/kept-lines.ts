import type { Reader } from "../../src/ground/store/store.ts";
import { lineReader, type StoredLine } from "../../src/in/ingest/line-outlines.ts";

/** All kept lines as they were sent, oldest first. */
export function keptLines(reader: Reader): (StoredLine & { level: number })[] {
  return reader
    .sql<[], StoredLine & { level: number }>(
      "SELECT id, template_id, level, message, keys, tags, outline FROM log_lines ORDER BY id",
    )
    .all()
    .map(lineReader(reader).whole);
}

/** The same as `level message`. */
export function linesOf(reader: Reader): string[] {
  return keptLines(reader).map(({ level, message }) => `${level} ${message}`);
}
