import { ServiceError } from "../../ground/kit/errors.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change, noteAlert } from "./apply.ts";
import { hold, quietIn } from "./hold.ts";
import { tellAgain } from "./renotify.ts";
import { timersAgain } from "./reopen.ts";
import { findRule } from "./rule-of.ts";
import { letGo } from "./settle.ts";
import { writeTimeline } from "./timeline.ts";
import { noTimers, timerColumns, timersOf } from "./timers.ts";

/**
 * Takes an acknowledgement back: the alert is open again, its ladder goes on after the wait that it had left, and
 * `alert.renotified` says so to all. One that is open stays as it is. Throws 404; 409 alert_resolved.
 */
export function unacknowledge(tx: Tx, id: number, accountId: string): AlertRow {
  const before = getAlertRow(tx, id);
  mustStand(before);
  if (before.state === "open") return before;
  const row = openAgain(tx, before);
  writeTimeline(tx, id, { kind: "unacknowledged", accountId });
  const rule = findRule(tx, row.rule_id);
  const quiet = quietIn(tx, row, rule);
  if (quiet !== null) return hold(tx, row, { quiet, news: "renotify" });
  return tellAgain(tx, row, { rule, detail: { why: "unacknowledged" } });
}

/** Throws 409 alert_resolved. */
export function mustStand({ state }: AlertRow): void {
  if (state === "resolved")
    throw new ServiceError("alert_resolved", "The alert is resolved: nothing more is done to it.");
}

/** An acknowledged alert is open from now on, with what was timed moved by how long somebody had it. Tells nobody. */
export function openAgain(tx: Tx, row: AlertRow): AlertRow {
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
  const open = change(tx, row, {
    state: "open",
    acked_at: null,
    acked_by: null,
    updated_seq: takeSequence(tx, "updated_seq"),
    ...timerColumns(timers),
  });
  if (open.due_at !== null) tx.note({ topic: "due", at: open.due_at });
  noteAlert(tx, row);
  return open;
}

/** Before an open alert pages anybody: what was held back of it is told, where it may be now. */
export function tellOpening(tx: Tx, row: AlertRow, rule: StoredRule | null): AlertRow {
  if (row.silenced_by !== null) return letGo(tx, row, rule);
  return row.untold === 1 ? tellAgain(tx, row, { rule, detail: {} }) : row;
}
