import type { Store } from "../store/store.ts";
import { type Author, isStorageFull, writeEntry } from "./record.ts";

const LATEST =
  "SELECT id, verb, at FROM audit WHERE kind = ? AND target_id = ? ORDER BY id DESC LIMIT 1";
const ONE_MORE = `UPDATE audit SET address = ?,
  changes = json_set(changes, '$[0].to', json_extract(changes, '$[0].to') + 1) WHERE id = ?`;

/**
 * Counts a refused attempt: one row for each minute and target, however many attempts there are, with the address of
 * the last one. On a full disk the attempt isn't counted.
 */
export function countRefused(store: Store, author: Author): void {
  const { address, verb, target } = author;
  try {
    store.write(
      (tx) => {
        const latest = tx
          .sql<[kind: string, id: string], { id: number; verb: string; at: number }>(LATEST)
          .get(target.kind, target.id);
        const minute = (at: number) => Math.floor(at / 60);
        if (latest?.verb === verb && minute(latest.at) === minute(tx.at))
          tx.sql<[address: string, id: number]>(ONE_MORE).run(address, latest.id);
        else {
          const changes = [{ field: "tries", from: null, to: 1 }];
          writeEntry(tx, author, { ...target, name: "", project: null, changes });
        }
      },
      { expendable: true },
    );
  } catch (error) {
    if (!isStorageFull(error)) throw error;
  }
}
