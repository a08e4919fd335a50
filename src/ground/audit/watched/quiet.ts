import type { WatchedTable } from "./table.ts";

/** Silences and maintenance. */
export const quietWatched: Readonly<Record<string, WatchedTable>> = {
  silences: {
    kind: "silence",
    id: "id",
    name: "id",
    inProject: true,
    fields: {
      starts_at: ["starts_at", "text"],
      ends_at: ["ends_at", "text"],
      over_at: ["over_at", "text"],
      repeats: ["repeat", "text"],
      body: ["body", "json"],
    },
    passed: ["created_by", "created_at"],
  },
};
