import type { Reader } from "./store.ts";

/** Rows written since the store was opened; whoever bounds a transaction looks at the difference. */
export function rowsWritten(reader: Reader): number {
  return reader.sql<[], number>("SELECT total_changes()").pluck().get() ?? 0;
}
