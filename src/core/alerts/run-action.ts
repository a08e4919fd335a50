import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { queueRun } from "../../out/outbox/run-again.ts";
import { getActionRow } from "../projects/actions.ts";
import { projectOf } from "../projects/projects.ts";
import { getAlertRow } from "./alert.ts";
import { noteAlert } from "./apply.ts";
import { writeTimeline } from "./timeline.ts";
import { mustStand } from "./unacknowledge.ts";

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
    throw new ServiceError("action_not_runnable", "What an action mends isn't broken in a drill.");
  const execution = queueRun(tx, { actionId, alertId: id });
  if (execution === null)
    throw new ServiceError(
      "action_not_runnable",
      "Nothing was told of the alert yet: there is no event that the action could run on.",
    );
  writeTimeline(tx, id, { kind: "action_started", accountId, detail: { action: action.name } });
  noteAlert(tx, row);
  return execution;
}
