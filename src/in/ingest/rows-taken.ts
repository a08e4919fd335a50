import { rowsWritten } from "../../ground/store/rows-written.ts";
import type { Tx } from "../../ground/store/store.ts";

/**
 * How many rows a batch's alerts take, their deliveries included. Most batches open none, and then SQLite isn't
 * asked.
 */
export interface RowsTaken {
  /** An alert may be about to be opened or ended. */
  expect(tx: Tx): void;
  /** Rows that were written since the first `expect` of the batch; 0 where there was none. */
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
