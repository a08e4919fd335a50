import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";

/**
 * Acknowledges an open alert: the ladder and renotify stop with the commit. An alert that is already
 * acknowledged or resolved stays as it is (contract §14). `by` is an account's id, or the source whose sender said
 * that somebody has it; `via` the kind of contact that the person answered through. Throws 404.
 */
export function acknowledge(
  tx: Tx,
  id: number,
  by: string | { source: string },
  via?: string,
): AlertRow {
  const before = getAlertRow(tx, id);
  return before.state === "open" ? happen(tx, before, { what: "acknowledged", by, via }) : before;
}
