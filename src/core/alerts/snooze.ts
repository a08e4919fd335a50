import { ServiceError } from "../../ground/kit/errors.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { acknowledge } from "./acknowledge.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change, noteAlert } from "./apply.ts";
import { hold, quietIn } from "./hold.ts";
import { tellAgain } from "./renotify.ts";
import { writeTimeline } from "./timeline.ts";
import { timerColumns, timersOf, wokenTimers } from "./timers.ts";

/** Acknowledgements that end: by a snooze, or because the rule says how long one lasts. */

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
  const taken = acknowledge(tx, id, accountId);
  const row = change(tx, taken, {
    updated_seq: takeSequence(tx, "updated_seq"),
    ...timerColumns({ ...timersOf(taken), wakesAt: until }),
  });
  writeTimeline(tx, id, { kind: "snoozed", accountId, detail: { until } });
  tx.note({ topic: "due", at: until });
  return row;
}

/** Opens an alert whose acknowledgement has ended: told again, its ladder from the first step. */
export function wake(tx: Tx, row: AlertRow, rule: StoredRule | null): AlertRow {
  const open = change(tx, row, {
    state: "open",
    acked_at: null,
    acked_by: null,
    updated_seq: takeSequence(tx, "updated_seq"),
    ...timerColumns(wokenTimers(timersOf(row), { rule, now: tx.at })),
  });
  writeTimeline(tx, row.id, {
    kind: "unacknowledged",
    detail: { why: "ended", acknowledged_at: row.acked_at },
  });
  noteAlert(tx, row);
  const quiet = quietIn(tx, open, rule);
  if (quiet !== null) return hold(tx, open, { quiet, news: "renotify" });
  return tellAgain(tx, open, { rule, detail: { why: "acknowledgement_ended" } });
}
