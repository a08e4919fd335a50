import { getProject, type Project } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type ReportStanding, STANDING_WORDS, titleOf } from "../../../records/reports/report.ts";
import { type ReportLine, reportLines } from "../../../records/reports/reports.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { icon } from "../ui/icon.ts";
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
        tabs: () => projectTabs(call, project.name, "reports"),
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
<ul class="list list-card">${lines.map((line) => listed(call, project, line))}</ul>
${lines.length === MOST && html`<p class="soft">The newest ${MOST}. All of them: <code>box report list ${project.name}</code></p>`}`;
}

function listed(call: PageCall, { name }: Project, { row, standing, newestAt }: ReportLine) {
  const at = call.base + pathOf("p", name, "reports", row.id);
  const last =
    newestAt === null
      ? html`<span class="soft">no entry yet</span>`
      : html`last entry ${ago(call, newestAt)}`;
  return html`<li><a href="${at}"><span><b dir="auto">${titleOf(row)}</b><br><span class="soft">${standingBadge(standing)} · ${last}${row.passwordHash !== null && " · readers need a password"}</span></span>${icon("next")}</a></li>
`;
}
