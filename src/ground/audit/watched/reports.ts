import { times, type WatchedTable } from "./table.ts";

export const reportsWatched: Readonly<Record<string, WatchedTable>> = {
  reports: {
    kind: "report",
    id: "id",
    name: "title",
    inProject: true,
    fields: {
      title: ["title", "text"],
      description: ["description", "text"],
      alert_id: ["alert_id", "text"],
      password_hash: ["password", "secret"],
      public_uuid: ["public_address", "secret"],
    },
    passed: ["password_version", "created_by", ...times],
  },
  report_entries: {
    kind: "report_entry",
    id: "id",
    name: "title",
    fields: {
      report_id: ["report_id", "text"],
      title: ["title", "text"],
      entry_type: ["entry_type", "text"],
      content_md: ["content_md", "text"],
    },
    passed: ["seq", "content_html", "created_at", "created_by"],
  },
};
