import { rowsWritten } from "../../ground/store/rows-written.ts";
import type { Tx } from "../../ground/store/store.ts";

/** Counts the rows that a batch's alerts write. SQLite isn't asked for a batch without any, as most are. */
export interface RowsTaken {
  /** Called before an alert may be opened or ended. */
  expect(tx: Tx): void;
  /** Rows written since the batch's first `expect`; 0 without one. */
  count(tx: Tx): number;
  /** The batch is over. */
  reset(): void;
}

export function createRowsTaken(): RowsTaken {
  let before: number | null = null;
  let rows = 0;
  let isStale = false;
  return {
    expect(tx) {
      before ??= rowsWritten(tx);
      isStale = true;
    },
    count(tx) {
      if (isStale) rows = rowsWritten(tx) - (before ?? 0);
      isStale = false;
      return rows;
    },
    reset() {
      before = null;
      rows = 0;
      isStale = false;
    },
  };
}
