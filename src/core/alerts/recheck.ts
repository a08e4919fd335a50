import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";

/** One alert is worse than it was, or not what it was: where its news is held back, it is looked at again, at once. */
export function recheckAlert(tx: Tx, row: AlertRow): AlertRow {
  if (row.silenced_by === null) return row;
  tx.note({ topic: "due", at: tx.at });
  return change(tx, row, { held_until: tx.at, due_at: tx.at });
}

/** Events of another source went into it: it is no longer one source's. */
export function isOfSeveral(tx: Tx, id: number): void {
  recheckAlert(tx, change(tx, getAlertRow(tx, id), { source: null }));
}
