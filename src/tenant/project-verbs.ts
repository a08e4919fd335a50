import { mustBeNoFallback, renameInFallback } from "../core/alerts/fallback.ts";
import { renameInLadderChanges } from "../core/alerts/followers.ts";
import { deleteProject, getProject, renameProject } from "../core/projects/projects.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { withdrawOfProject } from "../out/paging/pages.ts";

/** What is deleted with a project. */
interface ProjectContents {
  alerts: number;
  /** How many of these alerts aren't resolved. */
  open: number;
  sources: number;
  rules: number;
  channels: number;
  actions: number;
  schedules: number;
}

const of = (table: string) => `(SELECT count(*) FROM ${table} x WHERE x.project_id = p.id)`;
const alerts = (states: string) =>
  `(SELECT coalesce(sum(c.n), 0) FROM alert_counts c WHERE c.project_id = p.id AND c.what IN (${states}))`;
const CONTENTS = `SELECT ${alerts("'open', 'acknowledged', 'resolved'")} AS alerts,
    ${alerts("'open', 'acknowledged'")} AS open,
    ${of("sources")} AS sources, ${of("rules")} AS rules, ${of("integrations")} AS channels,
    ${of("actions")} AS actions, ${of("schedules")} AS schedules FROM projects p WHERE p.id = ?`;

/** Throws 404. */
export function projectContents(reader: Reader, name: string): ProjectContents {
  const { id } = getProject(reader, name);
  return reader.sql<[id: number], ProjectContents>(CONTENTS).get(id) as ProjectContents;
}

/** Deletes a project and withdraws its pages. Throws 404, and 409 while others name its schedules. */
export function dropProject(tx: Tx, name: string): void {
  withdrawOfProject(tx, getProject(tx, name).id);
  mustBeNoFallback(tx, `${name}/`);
  deleteProject(tx, name);
}

/** Renames a project. The fallback still names its schedules. Throws 404, 409. */
export function callProject(tx: Tx, name: string, to: string): void {
  renameProject(tx, name, to);
  const [from, by] = [`${name}/`, `${to}/`];
  renameInFallback(tx, { from, to: by });
  renameInLadderChanges(tx, (one) => (one.startsWith(from) ? by + one.slice(from.length) : one));
}
