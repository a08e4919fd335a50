import type { Tx } from "../../ground/store/store.ts";
import { deleteIntegration, setIntegrationEnabled } from "../projects/integrations.ts";
import type { Project } from "../projects/projects.ts";
import { losePushes } from "./fallback.ts";
import { writeLateTimeline } from "./timeline.ts";

/** As `setIntegrationEnabled`; of alerts that only this channel pages phones for, others are paged. */
export function switchChannel(
  tx: Tx,
  project: Project,
  of: { id: string; enabled: boolean; by?: string },
): void {
  const change = () => setIntegrationEnabled(tx, project, of);
  if (of.enabled) change();
  else losePushes(tx, change);
}

/** As `deleteIntegration`, with the same care, and what is dropped is written into the history of each alert. */
export function dropChannel(tx: Tx, project: Project, id: string): void {
  losePushes(tx, () => deleteIntegration(tx, project, { id, tell: writeLateTimeline }));
}
