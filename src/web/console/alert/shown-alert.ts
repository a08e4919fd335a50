import { type AlertRow, alertId, findAlertRow } from "../../../core/alerts/alert.ts";
import { silencedAt } from "../../../core/alerts/hold.ts";
import { findRule } from "../../../core/alerts/rule-of.ts";
import { latestTimeline, type NumberedEntry } from "../../../core/alerts/timeline.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import type { SilencedBy } from "../../../core/quiet/decide.ts";
import { listAudit } from "../../../ground/audit/list.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { PageCall } from "../screen.ts";
import { naming } from "../ui/people-names.ts";
import { exact } from "../ui/times.ts";

/** Of a history so many entries are shown, the latest. */
export const MOST_ENTRIES = 500;

/** One alert, and what every part of its page asks of it. */
export interface ShownAlert {
  row: AlertRow;
  /** null once it is deleted. */
  rule: StoredRule | null;
  /** The latest, oldest first. */
  entries: readonly NumberedEntry[];
  /** What keeps an open alert's news back now. */
  quiet: SilencedBy | null;
  nameOf(account: string): string;
}

/** Throws 404, with what is known of one that is gone. */
export function readShownAlert(call: PageCall): ShownAlert {
  const { now, params } = call;
  const { store } = call.tenant;
  const id = alertId(params["alert"] ?? "");
  const row = findAlertRow(store, id) ?? goneSince(call, id);
  const rule = findRule(store, row.rule_id);
  return {
    row,
    rule,
    entries: latestTimeline(store, row.id, MOST_ENTRIES),
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
