import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { queueRun } from "../../out/outbox/run-again.ts";
import { getActionRow } from "../projects/actions.ts";
import { projectOf } from "../projects/projects.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { noteAlert } from "./apply.ts";
import { nextRung, wholeLadder } from "./ladder.ts";
import { happen } from "./life/happen.ts";
import type { Resolver } from "./life/turn.ts";
import { findRule } from "./rule-of.ts";
import { asFollowed } from "./rungs-ahead.ts";
import { writeTimeline } from "./timeline.ts";

/** What somebody does to an alert. */

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
  return before.state === "open" ? happen(tx, before, { what: "acknowledged", by, via }) : before;
}

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

/**
 * Resolves an alert: everything timed stops, its key is free for a new one, and events before now don't count
 * towards that (contract §5). A resolved one stays as it is. Throws 404.
 */
export function resolve(tx: Tx, id: number, by: Resolver): AlertRow {
  const before = getAlertRow(tx, id);
  return before.state === "resolved" ? before : happen(tx, before, { what: "resolved", by });
}

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

/**
 * Somebody runs an action for an alert, also one that its rule doesn't name. Returns the execution's id. Throws 404; 409
 * alert_resolved, action_disabled, and action_not_runnable in a drill or before anything was told of the alert.
 */
export function runForAlert(
  tx: Tx,
  id: number,
  { actionId, accountId }: { actionId: string; accountId: string },
): string {
  const row = getAlertRow(tx, id);
  const action = getActionRow(tx, projectOf(tx, row.project_id), actionId);
  mustStand(row);
  if (action.enabled === 0)
    throw new ServiceError("action_disabled", "The action is disabled: enable it first.");
  if (row.drill !== 0)
    throw new ServiceError(
      "action_not_runnable",
      "A drill runs no actions: nothing is broken that they could mend.",
    );
  const execution = queueRun(tx, { actionId, alertId: id });
  if (execution === null)
    throw new ServiceError(
      "action_not_runnable",
      "The alert has sent no event yet, and the action runs with its latest event: wait until one is sent.",
    );
  writeTimeline(tx, id, { kind: "action_started", accountId, detail: { action: action.name } });
  noteAlert(tx, row);
  return execution;
}
