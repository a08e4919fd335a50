import type { WatchedTable } from "./table.ts";

/** Alerts. */
export const alertsWatched: Readonly<Record<string, WatchedTable>> = {
  // Opened by events, and its history tells the rest. What folds events in assigns none of these.
  alerts: {
    ...{ kind: "alert", id: "id", name: "rule", inProject: true, changesOnly: true },
    fields: {
      state: ["state", "text"],
      page_accounts: ["page_accounts", "json"],
      wakes_at: ["acknowledged_until", "text"],
    },
    passed: [
      ...["rule_id", "alert_key", "template_id", "template", "level", "count", "first_seen"],
      ...["last_seen", "last_message", "identifiers", "investigate", "escalation_level"],
      ...["updated_seq", "opened_at", "acked_at", "resolved_at", "ladder_from", "step", "step_at"],
      ...["repeat_at", "renotify_at", "renotified", "quiet_at", "due_at", "dedup_key", "room"],
      ...["instance", "expires_at", "extra", "promised", "silenced_by", "held_until", "untold"],
      ...["source", "drill", "acked_by"],
    ],
  },
};
