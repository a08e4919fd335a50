import { getProject, type Project } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type ReportStanding, STANDING_WORDS, titleOf } from "../../../records/reports/report.ts";
import { type ReportLine, reportLines } from "../../../records/reports/reports.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { ago } from "../ui/times.ts";

/** Of a project so many are listed, the newest; the command line lists all. */
const MOST = 200;

/** What readers outside are told, report by report. */
export const reportsScreen: Screen = {
  path: "/p/{project}/reports",
  view(call) {
    const project = getProject(call.tenant.store, call.params["project"] ?? "");
    return {
      title: `${project.name} · Reports`,
      heading: html`${project.name}`,
      nav: "projects",
      sections: {
        tabs: { watches: [], draw: () => projectTabs(call, project.name, "reports") },
        reports: { watches: ["reports"], draw: () => list(call, project) },
      },
    };
  },
};

/** With its base: where readers find a report. */
export const readersAddress = (
  { tenant, origin }: Pick<PageCall, "tenant" | "origin">,
  uuid: string,
): string => `${tenant.publicUrl || origin}/public/reports/${uuid}`;

const TONES: Readonly<Record<ReportStanding, string>> = {
  reported: "soft",
  update: "soft",
  analysis: "warn",
  resolution: "good",
};

/** How a report stands, as its readers are told. */
export const standingBadge = (standing: ReportStanding): Markup =>
  html`<span class="${TONES[standing]}">● ${STANDING_WORDS[standing]}</span>`;

function list(call: PageCall, project: Project): Markup {
  const lines = reportLines(call.tenant.store, project, MOST);
  const to = call.base + pathOf("p", project.name, "reports", "new");
  const make = html`<a class="button" href="${to}" data-key="n" aria-keyshortcuts="n" title="New report (n)">New report</a>`;
  if (lines.length === 0)
    return empty(
      "Nobody outside has been told anything.",
      html`<p class="soft">A report is a public page that tells people outside what is wrong. You can start one from an alert's page.</p>${make}`,
    );
  return html`<div class="card-head"><h2>Incident reports</h2>${make}</div>
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Report</th><th scope="col">Readers see</th><th scope="col">Last entry</th><th scope="col">Protected</th><th scope="col">Readers' address</th></tr></thead>
<tbody>${lines.map((line) => listed(call, project, line))}</tbody></table></div>
${lines.length === MOST && html`<p class="soft">The newest ${MOST}. All of them: <code>box report list ${project.name}</code></p>`}`;
}

function listed(call: PageCall, { name }: Project, { row, standing, newestAt }: ReportLine) {
  const at = call.base + pathOf("p", name, "reports", row.id);
  const address = readersAddress(call, row.publicUuid);
  return html`<tr><td data-label="Report"><a href="${at}" dir="auto">${titleOf(row)}</a></td>
<td data-label="Readers see">${standingBadge(standing)}</td>
<td data-label="Last entry">${newestAt === null ? html`<span class="soft">none yet</span>` : ago(call, newestAt)}</td>
<td data-label="Protected">${row.passwordHash === null ? "no" : "by a password"}</td>
<td data-label="Readers' address"><a href="${address}" class="mono small">…/${row.publicUuid}</a></td></tr>
`;
}
