import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";

/** A snooze ends within so many seconds. */
export const LONGEST_SNOOZE = 7 * 86_400;

/**
 * Acknowledges an alert until then; of one that is acknowledged that acknowledgement ends then. Throws 404, 400 for a
 * time that isn't ahead or over 7 days away, 409 alert_resolved.
 */
export function snooze(
  tx: Tx,
  id: number,
  { until, accountId }: { until: number; accountId: string },
): AlertRow {
  const before = getAlertRow(tx, id);
  if (before.state === "resolved")
    throw new ServiceError("alert_resolved", "The alert is resolved: it can't be snoozed.");
  if (until <= tx.at || until > tx.at + LONGEST_SNOOZE) {
    const reason = "must be ahead, and at most 7 days";
    throw new ServiceError("invalid_request", `/until: ${reason}`, {
      details: [{ field: "/until", reason }],
    });
  }
  return happen(tx, before, { what: "snoozed", by: accountId, until });
}
