import type { WatchedTable } from "./table.ts";

export const alertsWatched: Readonly<Record<string, WatchedTable>> = {
  // Events open alerts, and the timeline records what happens to them. Folding an event into an alert writes none of
  // these columns.
  alerts: {
    kind: "alert",
    id: "id",
    name: "rule",
    inProject: true,
    changesOnly: true,
    fields: {
      state: ["state", "text"],
      page_accounts: ["page_accounts", "json"],
      wakes_at: ["acknowledged_until", "text"],
    },
  },
};
