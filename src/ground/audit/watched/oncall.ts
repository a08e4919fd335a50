import { texts, type WatchedTable } from "./table.ts";

export const oncallWatched: Readonly<Record<string, WatchedTable>> = {
  schedules: {
    kind: "schedule",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      ...texts("name", "timezone", "covers"),
      layers: ["layers", "json"],
      shared: ["shared", "flag"],
      shift_check: ["shift_check", "flag"],
      hand_over: ["hand_over", "flag"],
    },
  },
  calendars: {
    kind: "calendar",
    id: "id",
    name: "id",
    fields: { ...texts("account_id", "schedule_id"), hash: ["address", "secret"] },
  },
  away: {
    kind: "away",
    id: "id",
    name: "id",
    fields: {
      spans: ["spans", "json"],
      shown_ical: ["ical", "text"],
      sealed_ical: ["ical_address", "secret"],
    },
  },
  asks: {
    kind: "ask",
    id: "id",
    name: "id",
    fields: {
      ...texts(
        "schedule_id",
        "account_id",
        "starts_at",
        "ends_at",
        "return_from",
        "return_until",
        "note",
        "state",
        "taken_by",
      ),
    },
  },
  holidays: {
    kind: "holidays",
    id: "name",
    name: "name",
    fields: { name: ["name", "text"], dates: ["dates", "json"] },
  },
  overrides: {
    kind: "override",
    id: "id",
    name: "id",
    fields: { ...texts("schedule_id", "account_id", "starts_at", "ends_at") },
  },
};
