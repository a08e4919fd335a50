import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { withdrawPages } from "../../out/outbox/stand-down.ts";
import { withdrawPersonal } from "../../out/paging/pages.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change, noteAlert } from "./apply.ts";
import { emit } from "./emit.ts";
import { noteToPeople } from "./personal.ts";
import { findRule } from "./rule-of.ts";
import { calledOf } from "./said.ts";
import { writeTimeline } from "./timeline.ts";
import { acknowledgedTimers, timerColumns, timersOf } from "./timers.ts";

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
  const row = change(tx, before, {
    state: "acknowledged",
    acked_at: tx.at,
    acked_by: typeof by === "string" ? by : null,
    updated_seq: takeSequence(tx, "updated_seq"),
    silenced_by: null,
    ...timerColumns(acknowledgedTimers(timersOf(before), wakesAt)),
  });
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
  // Whoever heard nothing of its opening hears nothing of this.
  if (row.untold === 0) {
    const eventRow = emit(tx, row, {
      event: "alert.acknowledged",
      rule,
      said: () => ({ by: typeof by === "string" ? calledOf(tx, by) : `its source ${by.source}` }),
    });
    noteToPeople(tx, id, { event: "alert.acknowledged", eventRow });
  }
  noteAlert(tx, row);
  return row;
}
