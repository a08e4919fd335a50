import { ServiceError } from "../../ground/kit/errors.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { acknowledge } from "./acknowledge.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { hold, quietIn } from "./hold.ts";
import { earliest } from "./ladder.ts";
import { tellAgain } from "./renotify.ts";
import { writeTimeline } from "./timeline.ts";
import { timersOf, wokenTimers } from "./timers.ts";

/** Acknowledgements that end: by a snooze, or because the rule says how long one lasts. */

/** A snooze ends within so many seconds. */
export const LONGEST_SNOOZE = 7 * 86_400;

const SNOOZE = "UPDATE alerts SET wakes_at = ?, updated_seq = ?, due_at = ? WHERE id = ?";

/**
 * Acknowledges an alert until then; of one that is acknowledged that acknowledgement ends then. Throws 404, 400 for a
 * time that isn't ahead or over 7 days away, 409 alert_resolved.
 */
export function snooze(
  tx: Tx,
  id: number,
  { until, accountId }: { until: number; accountId: string },
): AlertRow {
  const { state } = getAlertRow(tx, id);
  if (state === "resolved")
    throw new ServiceError("alert_resolved", "The alert is resolved: it can't be snoozed.");
  if (until <= tx.at || until > tx.at + LONGEST_SNOOZE) {
    const reason = "must be ahead, and at most 7 days";
    throw new ServiceError("invalid_request", `/until: ${reason}`, {
      details: [{ field: "/until", reason }],
    });
  }
  acknowledge(tx, id, accountId);
  const row = getAlertRow(tx, id);
  const due = earliest({ ...timersOf(row), wakesAt: until });
  tx.sql<SqlValue[]>(SNOOZE).run(until, takeSequence(tx, "updated_seq"), due, id);
  writeTimeline(tx, id, { kind: "snoozed", accountId, detail: { until } });
  tx.note({ topic: "due", at: until });
  return getAlertRow(tx, id);
}

const WAKE = `UPDATE alerts SET state = 'open', acked_at = NULL, acked_by = NULL, wakes_at = NULL, updated_seq = ?, ladder_from = ?, step = 0,
    step_at = ?, repeat_at = NULL, renotify_at = ?, renotified = 0, due_at = ?
  WHERE id = ? AND state = 'acknowledged' AND wakes_at = ?`;

/** Opens an alert whose acknowledgement has ended: told again, its ladder from the first step. False: it is not as seen. */
export function wake(tx: Tx, row: AlertRow, rule: StoredRule | null): boolean {
  const before = timersOf(row);
  const timers = wokenTimers(before, { rule, now: tx.at });
  const { changes } = tx
    .sql<SqlValue[]>(WAKE)
    .run(
      takeSequence(tx, "updated_seq"),
      timers.ladderFrom,
      timers.stepAt,
      timers.renotifyAt,
      earliest(timers),
      row.id,
      row.wakes_at,
    );
  if (changes === 0) return false;
  writeTimeline(tx, row.id, {
    kind: "unacknowledged",
    detail: { why: "ended", acknowledged_at: row.acked_at },
  });
  const open = getAlertRow(tx, row.id);
  const quiet = quietIn(tx, open, rule);
  if (quiet !== null) hold(tx, open, { quiet, news: "renotify" });
  else tellAgain(tx, open, { rule, timers, detail: { why: "acknowledgement_ended" } });
  tx.note({
    topic: "alert",
    alertId: row.id,
    alertKey: row.alert_key,
    ruleId: row.rule_id,
    opened: false,
    unresolved: 0,
  });
  return true;
}
