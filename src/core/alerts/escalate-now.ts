import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { noteAlert } from "./apply.ts";
import { nextRung, wholeLadder } from "./ladder.ts";
import { happen } from "./life/happen.ts";
import { findRule } from "./rule-of.ts";
import { asFollowed } from "./rungs-ahead.ts";
import { mustStand } from "./unacknowledge.ts";

/**
 * Runs the ladder's next rung at once; those above it keep their times. An acknowledged alert is open again by it:
 * whoever is paged is to take it. Throws 404; 409 alert_resolved, ladder_over where no step is left.
 */
export function escalateNow(tx: Tx, id: number, accountId: string): AlertRow {
  const seen = getAlertRow(tx, id);
  mustStand(seen);
  const rule = findRule(tx, seen.rule_id);
  const step = rule && asFollowed(tx, seen, { rule, at: tx.at }).step;
  if (rule === null || step === null || nextRung(wholeLadder(rule), step) === null)
    throw new ServiceError("ladder_over", "Every rung of the ladder has run: assign somebody.");
  const row = happen(tx, seen, { what: "escalated_now", by: accountId }, { rule });
  noteAlert(tx, row);
  return row;
}
