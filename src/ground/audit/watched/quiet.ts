import { texts, type WatchedTable } from "./table.ts";

/** Silences and maintenance. */
export const quietWatched: Readonly<Record<string, WatchedTable>> = {
  silences: {
    kind: "silence",
    id: "id",
    name: "id",
    inProject: true,
    fields: {
      ...texts("starts_at", "ends_at", "over_at"),
      repeats: ["repeat", "text"],
      body: ["body", "json"],
    },
  },
};
