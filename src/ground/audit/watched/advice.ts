import type { WatchedTable } from "./table.ts";

export const adviceWatched: Readonly<Record<string, WatchedTable>> = {
  advice_hidden: {
    kind: "advice",
    id: "id",
    name: "id",
    fields: { until: ["until", "text"] },
  },
};
