import { alertId, findAlertRow } from "../../../core/alerts/alert.ts";
import { silencedAt } from "../../../core/alerts/hold.ts";
import { findRule } from "../../../core/alerts/rule-of.ts";
import { latestTimeline } from "../../../core/alerts/timeline.ts";
import { listAudit } from "../../../ground/audit/list.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { PageCall } from "../screen.ts";
import { naming } from "../ui/people-names.ts";
import { exact } from "../ui/times.ts";

/** Of a history so many entries are shown, the latest. */
export const MOST_ENTRIES = 500;

/** One alert, and what every part of its page asks of it. */
export type ShownAlert = ReturnType<typeof readShownAlert>;

/** Throws 404, with what is known of one that is gone. */
export function readShownAlert(call: PageCall) {
  const { now, params } = call;
  const { store } = call.tenant;
  const id = alertId(params["alert"] ?? "");
  const row = findAlertRow(store, id) ?? goneSince(call, id);
  const rule = findRule(store, row.rule_id);
  return {
    row,
    /** null once it is deleted. */
    rule,
    /** The latest, oldest first. */
    entries: latestTimeline(store, row.id, MOST_ENTRIES),
    /** What keeps an open alert's news back now. */
    quiet: row.state === "open" ? silencedAt(store, row, { rule, at: now }) : null,
    nameOf: naming(store),
  };
}

const DONE: Readonly<Record<string, string>> = {
  acknowledgeAlert: "acknowledged it",
  resolveAlert: "resolved it",
  addNote: "noted on it",
  changeAlerts: "acknowledged or resolved it",
  snoozeAlert: "snoozed it",
};

/** Throws 404: what somebody did to it last, where the audit still knows. */
function goneSince({ tenant: { store }, look }: PageCall, id: number): never {
  const [last] = listAudit(store, { target: `alert:${id}`, limit: 1 }).entries;
  const did = last === undefined ? undefined : (DONE[last.verb] ?? "changed it");
  const known =
    last === undefined
      ? "It never was, or it was deleted with its project or for its age."
      : `It was deleted since: ${last.email ?? "somebody who was removed"} ${did} on ${exact(last.at, look.zone)}${last.target.project === null ? "" : ` in ${last.target.project}`}.`;
  throw new ServiceError("not_found", `There is no alert #${id}. ${known}`);
}
