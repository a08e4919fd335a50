import { asc, eq, gt, sql } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { integrations, projects } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { dropDeliveries } from "../../out/outbox/rows.ts";
import { mustBeBelowLimit } from "./bounds.ts";
import { knownLadder, mustBeInNoLadder, renameInLadders } from "./ladders.ts";
import type { ConfigVersion } from "./project.ts";
import { wireRelay } from "./relay-wiring.ts";
import { refuseNamed, renameInLadder, rulesWithSchedule } from "./rules.ts";

export interface Project {
  id: number;
  name: string;
  version: number;
  createdAt: number;
  /** The row of the ladder that rules made in passing take; null: none. */
  defaultLadderId: number | null;
}

/** Null where there is none of this name. */
export function findProject(reader: Reader, name: string): Project | null {
  return reader.orm.select().from(projects).where(eq(projects.name, name)).get() ?? null;
}

/** The project of this name. Throws 404: an absent one is never created implicitly (contract §15, Projects). */
export function getProject(reader: Reader, name: string): Project {
  const project = findProject(reader, name);
  if (project === null) throw notFound("project");
  return project;
}

/** The names of all, by id. */
export const projectNames = (reader: Reader): Map<number, string> =>
  new Map(
    reader.orm
      .select({ id: projects.id, name: projects.name })
      .from(projects)
      .all()
      .map(({ id, name }) => [id, name]),
  );

/** The project of this row. Throws 404. */
export function projectOf(reader: Reader, id: number): Project {
  const project = reader.orm.select().from(projects).where(eq(projects.id, id)).get();
  if (project === undefined) throw notFound("project");
  return project;
}

/** One row's count of another table. Written out: the builder drops the outer table's name in here. */
const entry = {
  name: projects.name,
  version: projects.version,
  source_count: sql<number>`(SELECT count(*) FROM sources s WHERE s.project_id = projects.id)`,
  rule_count: sql<number>`(SELECT count(*) FROM rules r WHERE r.project_id = projects.id)`,
  open_alert_count: sql<number>`(SELECT coalesce(sum(c.n), 0) FROM alert_counts c
    WHERE c.project_id = projects.id AND c.what IN ('open', 'acknowledged'))`,
  created_at: projects.createdAt,
  default_ladder: sql<
    string | null
  >`(SELECT l.name FROM ladders l WHERE l.id = projects.default_ladder_id)`,
};

/** A page of the index in name order after `after`, and the name to go on from (null at the end). */
export function listProjects(reader: Reader, page: { after: string; limit: number }) {
  const rows = reader.orm
    .select(entry)
    .from(projects)
    .where(gt(projects.name, page.after))
    .orderBy(asc(projects.name))
    .limit(page.limit + 1)
    .all();
  const shown = rows.slice(0, page.limit);
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

/** Throws 409 for a taken name, 422 for one too many. A configured relay is wired in the same transaction (contract §15, Pairing rule 2). */
export function createProject(tx: Tx, name: string): { name: string; version: number } {
  mustBeFree(tx, name);
  mustBeBelowLimit(tx, "projects");
  const { id } = tx.orm
    .insert(projects)
    .values({ name, version: 1, createdAt: tx.at })
    .returning({ id: projects.id })
    .get();
  wireRelay(tx, id);
  tx.note({ topic: "config", projectId: id });
  return { name, version: 1 };
}

/** Renames; tokens keep working, and so do names of its schedules in ladders. To its own name changes nothing. Throws 404, 409. */
export function renameProject(tx: Tx, name: string, to: string): void {
  const project = getProject(tx, name);
  if (name === to) return;
  mustBeFree(tx, to);
  const [before, after] = [`${name}/`, `${to}/`];
  const renamed = rulesWithSchedule(tx, { project, name: null });
  const renaming = (one: string) =>
    one.startsWith(before) ? after + one.slice(before.length) : one;
  for (const rule of renamed) renameInLadder(tx, rule, renaming);
  const further = renameInLadders(tx, renaming);
  tx.orm.update(projects).set({ name: to }).where(eq(projects.id, project.id)).run();
  const changed = [project.id, ...renamed.map((rule) => rule.project_id), ...further];
  for (const id of new Set(changed)) changeConfig(tx, id);
}

/** Rules made in passing refer to this ladder from now on; null: to none. Throws 404, 422. */
export function setDefaultLadder(tx: Tx, name: string, ladder: string | null): Project {
  const project = getProject(tx, name);
  const to = ladder === null ? null : knownLadder(tx, ladder, "/default_ladder").id;
  if (to === project.defaultLadderId) return project;
  tx.orm.update(projects).set({ defaultLadderId: to }).where(eq(projects.id, project.id)).run();
  changeConfig(tx, project.id);
  return getProject(tx, name);
}

/** Deletes the project with all it owns; its log lines go in slices later. Throws 404, and 409 while rules of others name its schedules. */
export function deleteProject(tx: Tx, name: string): void {
  const project = getProject(tx, name);
  refuseNamed(
    { code: "schedule_in_use", what: "project's schedules" },
    rulesWithSchedule(tx, { project, name: null })
      .filter((rule) => rule.project_id !== project.id)
      .map((rule) => `${projectOf(tx, rule.project_id).name}/${rule.name}`),
  );
  mustBeInNoLadder(tx, "project's schedules", (one) => one.startsWith(`${name}/`));
  for (const { id } of tx.orm
    .select({ id: integrations.id })
    .from(integrations)
    .where(eq(integrations.projectId, project.id))
    .all())
    dropDeliveries(tx, id);
  tx.orm.delete(projects).where(eq(projects.id, project.id)).run();
  tx.note({ topic: "project-deleted", projectId: project.id });
  tx.note({ topic: "sources" });
}

/** Adds 1 to the project's config version (contract §5): every verb that changes configuration ends here. */
export function changeConfig(tx: Tx, projectId: number): void {
  tx.orm
    .update(projects)
    .set({ version: sql`${projects.version} + 1` })
    .where(eq(projects.id, projectId))
    .run();
  tx.note({ topic: "config", projectId });
}

function mustBeFree(reader: Reader, name: string): void {
  if (findProject(reader, name) !== null)
    throw new ServiceError("name_taken", "There is a project of this name.");
}
