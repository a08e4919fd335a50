import type { Tx } from "../../ground/store/store.ts";
import { getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";

/**
 * Says again that an open alert is open, for a new burst of matches (contract §5, dedup_window_minutes).
 * `max_renotify` bounds the repeats of `renotify_minutes` and not these.
 */
export function renotifyBurst(tx: Tx, id: number): void {
  const row = getAlertRow(tx, id);
  if (row.state === "open") happen(tx, row, { what: "burst" });
}
