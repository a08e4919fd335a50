import { ServiceError } from "../../ground/kit/errors.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change, noteAlert } from "./apply.ts";
import { quietIn } from "./hold.ts";
import { nextRung } from "./ladder.ts";
import { createReach, storedSeats } from "./reach.ts";
import { findRule } from "./rule-of.ts";
import { settleAlert } from "./settle.ts";
import { writeTimeline } from "./timeline.ts";
import { mustStand, openAgain, tellOpening } from "./unacknowledge.ts";

/**
 * Runs the ladder's next rung at once; those above it keep their times. An acknowledged alert is open again by it:
 * whoever is paged is to take it. Throws 404; 409 alert_resolved, ladder_over where no step is left.
 */
export function escalateNow(tx: Tx, id: number, accountId: string): AlertRow {
  const seen = getAlertRow(tx, id);
  mustStand(seen);
  const rule = findRule(tx, seen.rule_id);
  if (rule === null || nextRung(rule.escalations, seen.step) === null)
    throw new ServiceError("ladder_over", "Every step of the ladder has run: assign somebody.");
  const open = seen.state === "acknowledged" ? openAgain(tx, seen) : seen;
  const told = quietIn(tx, open, rule) === null ? tellOpening(tx, open, rule) : open;
  writeTimeline(tx, id, { kind: "escalated_now", accountId });
  // In place of a repeat that is due or held.
  const sooner = change(tx, told, { step_at: tx.at, repeat_at: null, due_at: tx.at });
  const row = settleAlert(tx, sooner, {
    rule: () => rule,
    reach: createReach(tx.at, storedSeats(tx)),
    nextSeq: () => takeSequence(tx, "updated_seq"),
    upSince: tx.at,
    later: () => null,
  });
  if (row.due_at !== null) tx.note({ topic: "due", at: row.due_at });
  noteAlert(tx, row);
  return row;
}
