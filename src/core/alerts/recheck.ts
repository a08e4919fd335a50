import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { silencesIn } from "./hold.ts";

/** One alert is worse than it was, or not what it was: where its news is held back, it is looked at again, at once. */
export function recheckAlert(tx: Tx, row: AlertRow): AlertRow {
  if (row.silenced_by === null) return row;
  tx.note({ topic: "due", at: tx.at });
  return change(tx, row, { held_until: tx.at, due_at: tx.at });
}

/** It says something else of itself: a silence by labels that holds it may no longer take it. */
export function labelsChanged(tx: Tx, id: number): void {
  const silences = silencesIn(tx);
  if (!silences.some(({ byLabels }) => byLabels)) return;
  const row = getAlertRow(tx, id);
  if (silences.some(({ id: by, byLabels }) => byLabels && by === row.silenced_by))
    recheckAlert(tx, row);
}

/** Events of another source went into it: it is no longer one source's. */
export function isOfSeveral(tx: Tx, id: number): void {
  recheckAlert(tx, change(tx, getAlertRow(tx, id), { source: null }));
}
