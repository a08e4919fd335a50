import { and, asc, eq } from "drizzle-orm";
import { notFound, ServiceError } from "../kit/errors.ts";
import { base62Secret, sha256 } from "../kit/ids.ts";
import { sources } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import { mustHaveRoom } from "./bounds.ts";
import { changeConfig, type Project } from "./projects.ts";
import { mustBeUnnamed } from "./rules.ts";
import type { SourceAnswer, SourceToken } from "./source.ts";

export interface Source {
  id: number;
  projectId: number;
  name: string;
  retainLogs: boolean;
}

export function listSources(reader: Reader, project: Project): SourceAnswer[] {
  return reader.orm
    .select({ created_at: sources.createdAt, name: sources.name, retain_logs: sources.retainLogs })
    .from(sources)
    .where(eq(sources.projectId, project.id))
    .orderBy(asc(sources.name))
    .all();
}

/** The source an ingest token opens, or null. */
export function findSource(reader: Reader, token: string): Source | null {
  const row = reader.orm
    .select()
    .from(sources)
    .where(eq(sources.tokenHash, sha256(token)))
    .get();
  return row === undefined
    ? null
    : { id: row.id, projectId: row.projectId, name: row.name, retainLogs: row.retainLogs };
}

/** Makes a source; its token is only ever in this answer. Throws 409, 422 for one too many. */
export function createSource(
  tx: Tx,
  project: Project,
  source: { tenantId: string; name: string; retainLogs: boolean },
): SourceToken {
  if (find(tx, project, source.name) !== undefined) {
    throw new ServiceError("name_taken", "The project has a source of this name.");
  }
  mustHaveRoom(tx, "sources", project.id);
  const token = `pti_${source.tenantId}_${base62Secret(tx.random)}`;
  tx.orm
    .insert(sources)
    .values({
      projectId: project.id,
      name: source.name,
      tokenHash: sha256(token),
      retainLogs: source.retainLogs,
      createdAt: tx.at,
    })
    .run();
  changed(tx, project);
  return { name: source.name, token };
}

/** Throws 404. */
export function setRetention(tx: Tx, project: Project, name: string, retainLogs: boolean): void {
  const source = getSource(tx, project, name);
  if (source.retainLogs === retainLogs) return;
  tx.orm.update(sources).set({ retainLogs }).where(eq(sources.id, source.id)).run();
  changed(tx, project);
}

/** Replaces the token; the previous one is invalid with the commit. Throws 404. */
export function rotateToken(
  tx: Tx,
  project: Project,
  source: { tenantId: string; name: string },
): SourceToken {
  const { id } = getSource(tx, project, source.name);
  const token = `pti_${source.tenantId}_${base62Secret(tx.random)}`;
  tx.orm
    .update(sources)
    .set({ tokenHash: sha256(token) })
    .where(eq(sources.id, id))
    .run();
  tx.note({ topic: "sources" });
  return { name: source.name, token };
}

/** Throws 404, and 409 while a rule's match names it. */
export function deleteSource(tx: Tx, project: Project, name: string): void {
  const source = getSource(tx, project, name);
  mustBeUnnamed(tx, project.id, {
    code: "source_in_use",
    what: "source",
    names: (rule) => rule.match.sources.includes(name),
  });
  tx.orm.delete(sources).where(eq(sources.id, source.id)).run();
  changed(tx, project);
}

function changed(tx: Tx, project: Project): void {
  changeConfig(tx, project.id);
  tx.note({ topic: "sources" });
}

function find(reader: Reader, project: Project, name: string) {
  return reader.orm
    .select()
    .from(sources)
    .where(and(eq(sources.projectId, project.id), eq(sources.name, name)))
    .get();
}

/** Throws 404. */
export function getSource(reader: Reader, project: Project, name: string) {
  const source = find(reader, project, name);
  if (source === undefined) throw notFound("source");
  return source;
}
