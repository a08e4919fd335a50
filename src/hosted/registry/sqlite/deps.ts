import type { Store, Tx } from "../../../ground/store/store.ts";
import type { RegistrySealer } from "../registry.ts";

/** Runs `change` in a transaction. Resolves after the commit, or rejects with all of it undone. */
export type Write = <T>(change: (tx: Tx) => T) => Promise<T>;

/** What every part of the registry on SQLite needs. Nothing of it leaves this folder. */
export interface SqliteDeps {
  store: Store;
  write: Write;
  sealer: RegistrySealer;
}

/**
 * Joins the changes of one turn of the event loop into one commit, so that a burst of pages costs one sync. Each change
 * has a savepoint: one that throws is undone alone.
 */
export function groupWrites(store: Store): Write {
  let waiting: { run(tx: Tx): void; settle(): void; fail(error: unknown): void }[] = [];

  const flush = () => {
    const group = waiting;
    waiting = [];
    try {
      store.write((tx) => {
        for (const change of group) change.run(tx);
      });
    } catch (error) {
      for (const change of group) change.fail(error);
      return;
    }
    for (const change of group) change.settle();
  };

  return (change) =>
    new Promise((resolve, reject) => {
      let outcome = () => {};
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({
        run(tx) {
          const result = inSavepoint(tx, change);
          outcome = "error" in result ? () => reject(result.error) : () => resolve(result.value);
        },
        settle: () => outcome(),
        fail: reject,
      });
    });
}

function inSavepoint<T>(tx: Tx, change: (tx: Tx) => T): { value: T } | { error: unknown } {
  tx.sql<[]>("SAVEPOINT change").run();
  try {
    const value = change(tx);
    tx.sql<[]>("RELEASE change").run();
    return { value };
  } catch (error) {
    // A full disk rolls the whole transaction back, and every change with it.
    if (!tx.db.inTransaction) throw error;
    tx.sql<[]>("ROLLBACK TO change").run();
    tx.sql<[]>("RELEASE change").run();
    return { error };
  }
}
