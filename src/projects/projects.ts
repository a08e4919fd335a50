import { asc, eq } from "drizzle-orm";
import { notFound, ServiceError } from "../kit/errors.ts";
import { projects } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import { mustHaveRoom } from "./bounds.ts";
import type { ConfigVersion, ProjectEntry } from "./project.ts";
import { wireRelay } from "./relay-wiring.ts";

export interface Project {
  id: number;
  name: string;
  version: number;
  createdAt: number;
}

/** The project of this name. Throws 404: an absent one is never created implicitly (api §4, Projects). */
export function getProject(reader: Reader, name: string): Project {
  const project = reader.orm.select().from(projects).where(eq(projects.name, name)).get();
  if (project === undefined) throw notFound("project");
  return project;
}

const ENTRIES = `SELECT p.name, p.version, p.created_at,
    (SELECT count(*) FROM sources s WHERE s.project_id = p.id) AS source_count,
    (SELECT count(*) FROM rules r WHERE r.project_id = p.id) AS rule_count,
    (SELECT count(*) FROM alerts a WHERE a.project_id = p.id AND a.state <> 'resolved') AS open_alert_count
  FROM projects p WHERE p.name > ? ORDER BY p.name LIMIT ?`;

/** A page of the index in name order after `after`, and the name to go on from (null at the end). */
export function listProjects(
  reader: Reader,
  page: { after: string; limit: number },
): { projects: ProjectEntry[]; next: string | null } {
  const rows = reader.sql(ENTRIES).all(page.after, page.limit + 1) as ProjectEntry[];
  const shown = rows.slice(0, page.limit).map((row) => ({
    name: row.name,
    version: row.version,
    source_count: row.source_count,
    rule_count: row.rule_count,
    open_alert_count: row.open_alert_count,
    created_at: row.created_at,
  }));
  return { projects: shown, next: rows.length > page.limit ? (shown.at(-1)?.name ?? null) : null };
}

/** `[{project, version}]` by name: what `GET /v1/pull` carries. */
export function configVersions(reader: Reader): ConfigVersion[] {
  return reader.orm
    .select({ project: projects.name, version: projects.version })
    .from(projects)
    .orderBy(asc(projects.name))
    .all();
}

/** Throws 409 for a taken name, 422 for one too many. A configured relay is wired in the same transaction (api §4, Pairing rule 2). */
export function createProject(tx: Tx, name: string): { name: string; version: number } {
  mustBeFree(tx, name);
  mustHaveRoom(tx, "projects");
  const { id } = tx.orm
    .insert(projects)
    .values({ name, version: 1, createdAt: tx.at })
    .returning({ id: projects.id })
    .get();
  wireRelay(tx, id);
  tx.note({ topic: "config", projectId: id });
  return { name, version: 1 };
}

/** Renames; tokens keep working. To its own name changes nothing. Throws 404, 409. */
export function renameProject(tx: Tx, name: string, to: string): void {
  const project = getProject(tx, name);
  if (name === to) return;
  mustBeFree(tx, to);
  tx.orm.update(projects).set({ name: to }).where(eq(projects.id, project.id)).run();
  changeConfig(tx, project.id);
}

/** Deletes the project with all it owns; its log lines go in slices later. Throws 404. */
export function deleteProject(tx: Tx, name: string): void {
  const project = getProject(tx, name);
  tx.sql(
    `UPDATE deliveries SET status = 'dropped', next_attempt_ms = NULL, finished_at = ? WHERE status = 'pending'
      AND integration_id IN (SELECT id FROM integrations WHERE project_id = ?)`,
  ).run(tx.at, project.id);
  tx.orm.delete(projects).where(eq(projects.id, project.id)).run();
  tx.note({ topic: "project-deleted", projectId: project.id });
  tx.note({ topic: "sources" });
}

/** Adds 1 to the project's config version (decisions §5): every verb that changes configuration ends here. */
export function changeConfig(tx: Tx, projectId: number): void {
  tx.sql("UPDATE projects SET version = version + 1 WHERE id = ?").run(projectId);
  tx.note({ topic: "config", projectId });
}

function mustBeFree(reader: Reader, name: string): void {
  const taken = reader.orm
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.name, name))
    .get();
  if (taken !== undefined) throw new ServiceError("name_taken", "There is a project of this name.");
}
