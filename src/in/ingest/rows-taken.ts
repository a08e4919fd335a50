import { rowsWritten } from "../../ground/store/rows-written.ts";
import type { Tx } from "../../ground/store/store.ts";

/** Counts the rows that a batch's alerts write. SQLite isn't asked for a batch without any, as most are. */
export type RowsTaken = ReturnType<typeof createRowsTaken>;

export function createRowsTaken() {
  let before: number | null = null;
  let rows = 0;
  let isStale = false;
  return {
    /** Called before an alert may be opened or ended. */
    expect(tx: Tx) {
      before ??= rowsWritten(tx);
      isStale = true;
    },
    /** Rows written since the batch's first `expect`; 0 without one. */
    count(tx: Tx): number {
      if (isStale) rows = rowsWritten(tx) - (before ?? 0);
      isStale = false;
      return rows;
    },
    /** The batch is over. */
    reset() {
      before = null;
      rows = 0;
      isStale = false;
    },
  };
}
