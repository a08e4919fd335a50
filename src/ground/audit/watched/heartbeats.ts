import { origin, type WatchedTable } from "./table.ts";

export const heartbeatsWatched: Readonly<Record<string, WatchedTable>> = {
  heartbeats: {
    kind: "heartbeat",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      name: ["name", "text"],
      slug: ["slug", "text"],
      period_seconds: ["period_seconds", "text"],
      cron: ["cron", "text"],
      timezone: ["timezone", "text"],
      grace_seconds: ["grace_seconds", "text"],
      max_run_seconds: ["max_run_seconds", "text"],
      level: ["level", "text"],
      state: ["state", "text"],
      watch: ["watch", "json"],
      secret_hash: ["address", "secret"],
      uuid_hash: ["uuid", "secret"],
    },
    passed: [
      "last_at",
      "last_duration",
      "last_message",
      "run_at",
      "expected_at",
      "deadline_at",
      "reason",
      "instance",
      "exit_status",
      "owed",
      "due_at",
      "created_at",
      ...origin,
    ],
  },
};
