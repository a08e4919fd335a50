import { origin, times, type WatchedTable } from "./table.ts";

export const oncallWatched: Readonly<Record<string, WatchedTable>> = {
  schedules: {
    kind: "schedule",
    id: "id",
    name: "name",
    inProject: true,
    fields: {
      name: ["name", "text"],
      timezone: ["timezone", "text"],
      layers: ["layers", "json"],
      shared: ["shared", "flag"],
      shift_check: ["shift_check", "flag"],
      covers: ["covers", "text"],
      hand_over: ["hand_over", "flag"],
    },
    passed: [...times, ...origin, "check_at"],
  },
  calendars: {
    kind: "calendar",
    id: "id",
    name: "id",
    fields: {
      account_id: ["account_id", "text"],
      schedule_id: ["schedule_id", "text"],
      hash: ["address", "secret"],
    },
    passed: ["created_at"],
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
    passed: ["ical_spans", "ical_error", "ical_read_at", "ical_next"],
  },
  asks: {
    kind: "ask",
    id: "id",
    name: "id",
    fields: {
      schedule_id: ["schedule_id", "text"],
      account_id: ["account_id", "text"],
      starts_at: ["starts_at", "text"],
      ends_at: ["ends_at", "text"],
      return_from: ["return_from", "text"],
      return_until: ["return_until", "text"],
      note: ["note", "text"],
      state: ["state", "text"],
      taken_by: ["taken_by", "text"],
    },
    passed: ["created_at", "asked_by"],
  },
  holidays: {
    kind: "holidays",
    id: "name",
    name: "name",
    fields: { name: ["name", "text"], dates: ["dates", "json"] },
    passed: ["updated_at"],
  },
  overrides: {
    kind: "override",
    id: "id",
    name: "id",
    fields: {
      schedule_id: ["schedule_id", "text"],
      account_id: ["account_id", "text"],
      starts_at: ["starts_at", "text"],
      ends_at: ["ends_at", "text"],
    },
    passed: ["created_at", "created_by"],
  },
};
