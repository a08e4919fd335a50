import { findProject, projectOf } from "../../../core/projects/projects.ts";
import { findSilence, silencesWithin } from "../../../core/quiet/rows.ts";
import type { SilenceBody } from "../../../core/quiet/silence.ts";
import { windowAt } from "../../../core/quiet/windows.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { PageCall } from "../screen.ts";
import { stretchWords } from "../ui/schedule.ts";

/** A stretch of a maintenance: whoever is on call then is left alone by what it takes. */
export interface MaintenanceWindow {
  silence: string;
  name: string;
  /** null: every project. */
  project: string | null;
  reason: string;
  starts_at: number;
  ends_at: number;
}

/** More are not drawn. */
const MOST = 100;

/** Windows of maintenance that touch a range, in their order: of every project, or of one and of all. */
export function maintenanceWindows(
  reader: Reader,
  { from, until, project }: { from: number; until: number; project?: string },
): MaintenanceWindow[] {
  const home = project === undefined ? null : findProject(reader, project);
  const planned = silencesWithin(reader, { from, until }).filter(
    ({ kind, projectId }) =>
      kind === "maintenance" &&
      (project === undefined || projectId === null || projectId === home?.id),
  );
  return planned
    .flatMap(({ id, projectId, timing }) => {
      const row = findSilence(reader, id);
      if (row === null) return [];
      const { name, reason } = JSON.parse(row.body) as SilenceBody;
      const place = projectId === null ? null : projectOf(reader, projectId).name;
      const windows: MaintenanceWindow[] = [];
      for (let at = from; windows.length < MOST; ) {
        const window = windowAt(timing, at);
        if (window === null || window.from >= until) break;
        windows.push({
          silence: id,
          name: name === "" ? reason : name,
          project: place,
          reason,
          starts_at: window.from,
          ends_at: window.until,
        });
        at = window.until;
      }
      return windows;
    })
    .sort((a, b) => a.starts_at - b.starts_at)
    .slice(0, MOST);
}

/** The same as a list, on the clocks of a zone; nothing where none is planned. */
export function maintenanceList(
  { base }: PageCall,
  windows: readonly MaintenanceWindow[],
  zone: string,
): Markup {
  if (windows.length === 0) return html``;
  return html`<h2>Maintenance</h2><ul class="plain">${windows.map(
    (window) =>
      html`<li><a href="${base}/silences/${window.silence}">${window.name}</a> <span class="soft">${window.project ?? "every project"} · ${stretchWords(window, zone)} · “${window.reason}”</span></li>
`,
  )}</ul>`;
}
