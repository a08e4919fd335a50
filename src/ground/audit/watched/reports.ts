import { texts, type WatchedTable } from "./table.ts";

export const reportsWatched: Readonly<Record<string, WatchedTable>> = {
  reports: {
    kind: "report",
    id: "id",
    name: "title",
    inProject: true,
    fields: {
      ...texts("title", "description", "alert_id"),
      password_hash: ["password", "secret"],
      public_uuid: ["public_address", "secret"],
    },
  },
  report_entries: {
    kind: "report_entry",
    id: "id",
    name: "title",
    fields: { ...texts("report_id", "title", "entry_type", "content_md") },
  },
};
