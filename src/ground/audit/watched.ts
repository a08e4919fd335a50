import { adviceWatched } from "./watched/advice.ts";
import { alertsWatched } from "./watched/alerts.ts";
import { contactsWatched } from "./watched/contacts.ts";
import { heartbeatsWatched } from "./watched/heartbeats.ts";
import { oncallWatched } from "./watched/oncall.ts";
import { peopleWatched } from "./watched/people.ts";
import { projectsWatched } from "./watched/projects.ts";
import { quietWatched } from "./watched/quiet.ts";
import { reportsWatched } from "./watched/reports.ts";
import type { WatchedTable } from "./watched/table.ts";

/**
 * The tables that people change: what a row is called, and how the audit stores each column. Each folder that writes
 * some has a file here. A test compares the list with the migrations, so each new table or column is stored, kept
 * secret or left out on purpose.
 */
export const watched: Readonly<Record<string, WatchedTable>> = {
  ...peopleWatched,
  ...projectsWatched,
  ...oncallWatched,
  ...reportsWatched,
  ...heartbeatsWatched,
  ...quietWatched,
  ...contactsWatched,
  ...alertsWatched,
  ...adviceWatched,
};

/** Tables that no person writes, and why the audit leaves them out. */
export const unwatched: Readonly<Record<string, string>> = {
  audit: "the audit itself",
  migrations: "the program's own",
  pair_receipts: "made with a redeemed code, for the hosted service",
  wrong_tries: "counted by account and minute",
  removed_people: "written with the account's removal",
  templates: "the program's own finding",
  template_counts: "the program's own finding",
  template_returns: "the program's own finding",
  count_series: "the program's own finding",
  hour_counts: "the program's own finding",
  downtimes: "the program's own finding",
  log_lines: "events",
  log_blocks: "events",
  line_outlines: "events",
  window_hits: "events",
  waiting: "events",
  changes: "events",
  alert_buckets: "events",
  alert_minutes: "events",
  alert_people: "kept by what is done to alerts",
  alert_counts: "kept by what is done to alerts",
  ladder_changes: "kept for alerts that follow a ladder",
  ladder_followers: "kept for alerts that follow a ladder",
  timeline: "an alert's own history",
  events: "what leaves",
  deliveries: "what leaves",
  executions: "what leaves",
  pages: "what leaves",
  shift_checks: "what leaves",
  hand_overs: "what leaves",
  away_asked: "what leaves",
  oncall_notes: "what leaves",
  ask_people: "written with its ask",
  storms: "what leaves",
  heartbeat_runs: "reports of jobs",
  number_days: "reckoned from alerts",
  number_people: "reckoned from alerts",
  number_duty: "reckoned from schedules",
};
