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
 * secret or left out on purpose (`test/ground/audit/left-out.ts`).
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
