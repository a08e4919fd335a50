import { renameSourceOfAlerts } from "../core/alerts/many.ts";
import { getProject } from "../core/projects/projects.ts";
import { renameSource } from "../core/projects/sources.ts";
import { renameInSilences } from "../core/quiet/rows.ts";
import type { Tx } from "../ground/store/store.ts";
import { renameSourceInHeartbeats } from "../in/heartbeats/rows.ts";

/** Renames a source. Its tokens, rules, silences and open alerts stay valid. Throws 404, 409. */
export function callSource(tx: Tx, place: { project: string; source: string }, to: string): void {
  const project = getProject(tx, place.project);
  const change = { from: place.source, to };
  renameSource(tx, project, change);
  renameInSilences(tx, project.id, { kind: "source", ...change });
  renameSourceInHeartbeats(tx, { projectId: project.id, ...change });
  renameSourceOfAlerts(tx, { projectId: project.id, ...change });
}
