import type { Project } from "../../core/projects/projects.ts";
import { createSource, HEARTBEATS, type Source } from "../../core/projects/sources.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Watched } from "./heartbeat.ts";
import type { HeartbeatRow } from "./rows.ts";

type Row = Omit<Source, "retainLogs"> & { retainLogs: number };

const FIRST = `SELECT id, project_id AS projectId, name, retain_logs AS retainLogs, kind, room FROM sources
  WHERE project_id = ? AND kind = ? ORDER BY id LIMIT 1`;

/** The source of the events of a project's heartbeats; null where it was deleted or never existed. */
export function findHeartbeatSource(reader: Reader, projectId: number): Source | null {
  const row = reader.sql<[number, string], Row>(FIRST).get(projectId, HEARTBEATS);
  return row === undefined ? null : { ...row, retainLogs: row.retainLogs === 1 };
}

const NAMED = `SELECT id, project_id AS projectId, name, retain_logs AS retainLogs, kind, room FROM sources
  WHERE project_id = ? AND name = ?`;

/**
 * The source whose reports a heartbeat accepts, with the project's scope of names, as for all events of heartbeats.
 * Null where it names none, or that was deleted.
 */
export function reportingSource(
  reader: Reader,
  { project_id, watch }: Pick<HeartbeatRow, "project_id" | "watch">,
): Source | null {
  const { source } = (watch === null ? {} : JSON.parse(watch)) as Watched;
  if (source === undefined) return null;
  const row = reader.sql<[number, string], Row>(NAMED).get(project_id, source);
  return row === undefined ? null : { ...row, retainLogs: row.retainLogs === 1, room: "project" };
}

/** The source of the events of a project's heartbeats, created if there is none. Throws 422 too_many. */
export function heartbeatSource(tx: Tx, project: Pick<Project, "id">, tenantId: string): Source {
  const present = findHeartbeatSource(tx, project.id);
  if (present !== null) return present;
  const names = new Set(
    tx
      .sql<[number], string>("SELECT name FROM sources WHERE project_id = ?")
      .pluck()
      .all(project.id),
  );
  let name: string = HEARTBEATS;
  for (let n = 2; names.has(name); n++) name = `${HEARTBEATS} ${n}`;
  createSource(tx, project as Project, { tenantId, name, retainLogs: false, kind: HEARTBEATS });
  return findHeartbeatSource(tx, project.id) as Source;
}
