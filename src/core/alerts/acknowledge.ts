import type { SqlValue } from "../../ground/store/database.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { withdrawPages } from "../../out/outbox/stand-down.ts";
import { withdrawPersonal } from "../../out/paging/pages.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import { earliest } from "./ladder.ts";
import { noteToPeople } from "./personal.ts";
import { findRule } from "./rule-of.ts";
import { calledOf } from "./said.ts";
import { writeTimeline } from "./timeline.ts";
import { acknowledgedTimers, timersOf } from "./timers.ts";

const ACKNOWLEDGE = `UPDATE alerts SET state = 'acknowledged', acked_at = ?, acked_by = ?, updated_seq = ?,
    step_at = NULL, repeat_at = NULL, renotify_at = NULL, silenced_by = NULL, held_until = NULL, wakes_at = ?, due_at = ?
  WHERE id = ? AND state = 'open'`;

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
  if (before.state !== "open") return before;
  const rule = findRule(tx, before.rule_id);
  const minutes = rule?.ack_expires_minutes ?? 0;
  const wakesAt = minutes === 0 ? null : tx.at + minutes * 60;
  const due = earliest(acknowledgedTimers(timersOf(before), wakesAt));
  tx.sql<SqlValue[]>(ACKNOWLEDGE).run(
    tx.at,
    typeof by === "string" ? by : null,
    takeSequence(tx, "updated_seq"),
    wakesAt,
    due,
    id,
  );
  if (wakesAt !== null) tx.note({ topic: "due", at: wakesAt });
  const withdrawn = withdrawPages(tx, id) + withdrawPersonal(tx, id);
  writeTimeline(tx, id, {
    kind: "acknowledged",
    accountId: typeof by === "string" ? by : null,
    detail: {
      ...(typeof by === "string" ? {} : { by: "source", source: by.source }),
      ...(via === undefined ? {} : { via }),
      ...(withdrawn > 0 ? { pages_withdrawn: withdrawn } : {}),
      ...(wakesAt === null ? {} : { until: wakesAt }),
    },
  });
  const row = getAlertRow(tx, id);
  // Whoever heard nothing of its opening hears nothing of this.
  if (row.untold === 0) {
    const eventRow = emit(tx, row, {
      event: "alert.acknowledged",
      rule,
      said: () => ({ by: typeof by === "string" ? calledOf(tx, by) : `its source ${by.source}` }),
    });
    noteToPeople(tx, id, { event: "alert.acknowledged", eventRow });
  }
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: row.alert_key,
    ruleId: row.rule_id,
    opened: false,
    unresolved: 0,
  });
  return row;
}
