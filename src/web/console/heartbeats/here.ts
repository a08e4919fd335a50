import { type Project, projectOf } from "../../../core/projects/projects.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { type HeartbeatRow, heartbeatRow } from "../../../in/heartbeats/rows.ts";
import type { PageCall } from "../screen.ts";

/** The heartbeat of an address and its project. Throws 404. */
export function heartbeatHere({ tenant: { store }, params }: PageCall): {
  row: HeartbeatRow;
  project: Project;
} {
  const row = heartbeatRow(store, params["heartbeat"] ?? "");
  if (row === null) throw notFound("heartbeat");
  return { row, project: projectOf(store, row.project_id) };
}
