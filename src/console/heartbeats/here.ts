import { type HeartbeatRow, heartbeatRow } from "../../heartbeats/rows.ts";
import { notFound } from "../../kit/errors.ts";
import { type Project, projectOf } from "../../projects/projects.ts";
import type { PageCall } from "../screen.ts";

/** The heartbeat of an address and its project. Throws 404. */
export function heartbeatHere({ tenant: { store }, params }: PageCall): {
  row: HeartbeatRow;
  project: Project;
} {
  const row = heartbeatRow(store, params["hid"] ?? "");
  if (row === null) throw notFound("heartbeat");
  return { row, project: projectOf(store, row.project_id) };
}
