import { texts, type WatchedTable } from "./table.ts";

export const heartbeatsWatched: Readonly<Record<string, WatchedTable>> = {
  heartbeats: {
    kind: "heartbeat",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      ...texts(
        "name",
        "slug",
        "period_seconds",
        "cron",
        "timezone",
        "grace_seconds",
        "max_run_seconds",
        "level",
        "state",
      ),
      watch: ["watch", "json"],
      secret_hash: ["address", "secret"],
      uuid_hash: ["uuid", "secret"],
    },
  },
};
