import type { Reader } from "./store.ts";

/** Rows written since the store was opened. The difference of two calls is the size of a transaction. */
export function rowsWritten(reader: Reader): number {
  return reader.sql<[], number>("SELECT total_changes()").pluck().get() ?? 0;
}
