import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";

/**
 * Takes an acknowledgement back: the alert is open again, its ladder goes on after the wait that it had left, and
 * `alert.renotified` says so to all. One that is open stays as it is. Throws 404; 409 alert_resolved.
 */
export function unacknowledge(tx: Tx, id: number, accountId: string): AlertRow {
  const before = getAlertRow(tx, id);
  mustStand(before);
  if (before.state === "open") return before;
  return happen(tx, before, { what: "unacknowledged", by: accountId });
}

/** Throws 409 alert_resolved. */
export function mustStand({ state }: AlertRow): void {
  if (state === "resolved")
    throw new ServiceError("alert_resolved", "The alert is resolved: nothing more is done to it.");
}
