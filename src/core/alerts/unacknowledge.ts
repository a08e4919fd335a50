import { ServiceError } from "../../ground/kit/errors.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { hold, quietIn } from "./hold.ts";
import { earliest, type Timers } from "./ladder.ts";
import { tellAgain } from "./renotify.ts";
import { timersAgain } from "./reopen.ts";
import { findRule } from "./rule-of.ts";
import { letGo } from "./settle.ts";
import { writeTimeline } from "./timeline.ts";
import { noTimers, timersOf } from "./timers.ts";

const OPEN_AGAIN = `UPDATE alerts SET state = 'open', acked_at = NULL, acked_by = NULL, wakes_at = NULL, updated_seq = ?,
    ladder_from = ?, step_at = ?, repeat_at = ?, renotify_at = ?, due_at = ?
  WHERE id = ? AND state = 'acknowledged'`;

/**
 * Takes an acknowledgement back: the alert is open again, its ladder goes on after the wait that it had left, and
 * `alert.renotified` says so to all. One that is open stays as it is. Throws 404; 409 alert_resolved.
 */
export function unacknowledge(tx: Tx, id: number, accountId: string): AlertRow {
  const before = getAlertRow(tx, id);
  mustStand(before);
  if (before.state === "open") return before;
  const timers = openAgain(tx, before);
  writeTimeline(tx, id, { kind: "unacknowledged", accountId });
  const row = getAlertRow(tx, id);
  const rule = findRule(tx, row.rule_id);
  const quiet = quietIn(tx, row, rule);
  if (quiet !== null) hold(tx, row, { quiet, news: "renotify" });
  else tellAgain(tx, row, { rule, timers, detail: { why: "unacknowledged" } });
  return getAlertRow(tx, id);
}

/** Throws 409 alert_resolved. */
export function mustStand({ state }: AlertRow): void {
  if (state === "resolved")
    throw new ServiceError("alert_resolved", "The alert is resolved: nothing more is done to it.");
}

/** An acknowledged alert is open from now on, with what was timed moved by how long somebody had it. Tells nobody. */
export function openAgain(tx: Tx, row: AlertRow): Timers {
  const rule = findRule(tx, row.rule_id);
  const away = tx.at - (row.acked_at ?? tx.at);
  const before = timersOf(row);
  const timers =
    rule === null
      ? { ...noTimers(before), wakesAt: null }
      : {
          ...timersAgain(before, rule, { at: tx.at, away, expiresAt: row.expires_at }),
          // Quiet went on being counted.
          quietAt: row.quiet_at,
          wakesAt: null,
        };
  const due = earliest(timers);
  tx.sql<(number | null)[]>(OPEN_AGAIN).run(
    takeSequence(tx, "updated_seq"),
    timers.ladderFrom,
    timers.stepAt,
    timers.repeatAt,
    timers.renotifyAt,
    due,
    row.id,
  );
  if (due !== null) tx.note({ topic: "due", at: due });
  noteAlert(tx, row);
  return timers;
}

/** Before an open alert pages anybody: what was held back of it is told, where it may be now. */
export function tellOpening(tx: Tx, id: number, rule: StoredRule | null): void {
  const row = getAlertRow(tx, id);
  if (row.silenced_by !== null) letGo(tx, row, rule);
  else if (row.untold === 1) tellAgain(tx, row, { rule, timers: timersOf(row), detail: {} });
}

/** It changed, and counts as unresolved as before. */
export function noteAlert(tx: Tx, { id, alert_key, rule_id }: AlertRow): void {
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: alert_key,
    ruleId: rule_id,
    opened: false,
    unresolved: 0,
  });
}
