import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";
import type { Resolver } from "./life/turn.ts";

/**
 * Resolves an alert: everything timed stops, its key is free for a new one, and events before now don't count
 * towards that (contract §5). A resolved one stays as it is. Throws 404.
 */
export function resolve(tx: Tx, id: number, by: Resolver): AlertRow {
  const before = getAlertRow(tx, id);
  return before.state === "resolved" ? before : happen(tx, before, { what: "resolved", by });
}
