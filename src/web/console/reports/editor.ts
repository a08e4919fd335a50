import { html, type Markup } from "../../../ground/kit/html.ts";
import { exportMarkdown } from "../../../records/reports/draft.ts";
import { entryRows } from "../../../records/reports/entries.ts";
import { titleOf } from "../../../records/reports/report.ts";
import { WITH_FRAME } from "../answer.ts";
import type { PageCall, PageFile, Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { entryActions } from "./entry-actions.ts";
import { published } from "./entry-list.ts";
import { factsSection } from "./facts.ts";
import { standingBadge } from "./list.ts";
import { manageSection } from "./manage.ts";
import { previewAction, previewDocument } from "./preview.ts";
import { reportActions } from "./report-actions.ts";
import { readShownReport, reportOf, type ShownReport } from "./shown-report.ts";
import { standingNow, writeForm } from "./write-form.ts";

/** Tells people outside, in minutes: what is written, beside the page that they will read. */
export const editorScreen: Screen = {
  path: "/p/{project}/reports/{report}",
  view(call) {
    const shown = readShownReport(call);
    const { row, path } = shown;
    const [watches, facts] = [["reports"], row.alertId === null ? [] : [`alert:${row.alertId}`]];
    const title = titleOf(row);
    return {
      title,
      heading: null,
      nav: "projects",
      script: "report",
      headers: WITH_FRAME,
      sections: {
        head: { watches, draw: () => head(call.base, shown) },
        write: { watches: [], draw: () => writeForm(call, shown) },
        facts: { watches: facts, draw: () => factsSection(call, shown) },
        entries: { watches, draw: () => published(call, shown) },
        manage: {
          watches,
          draw: () => html`${manageSection(call, shown)}${changesLink(call, "report", row.id)}`,
        },
      },
      body: (put) => html`${put("head")}
<div class="report" data-side="write"><div class="buttons report-sides scripted"><button type="button" data-show="write" aria-pressed="true">Write</button><button type="button" data-show="read" aria-pressed="false">Read</button></div>
<div class="report-write">${put("facts")}${put("write")}</div>
<section class="report-read" aria-labelledby="read"><div class="card-head"><h2 id="read">As readers see it</h2><div class="buttons report-widths scripted"><button type="button" data-width="phone" aria-pressed="false">360 px</button><button type="button" data-width="wide" aria-pressed="true">Wide</button></div></div>
<div class="report-frames"><iframe name="preview" title="As readers see it" sandbox src="${call.base}${path}/preview"></iframe></div></section></div>
${put("entries")}${put("manage")}`,
    };
  },
  forms: { ...entryActions, ...reportActions, preview: previewAction },
  files: { preview: previewDocument, "export.md": exportFile },
};

function head(base: string, { project, row, entries }: ShownReport): Markup {
  const standing = standingNow({ entries });
  return html`<p class="crumbs"><a href="${base}/p/${encodeURIComponent(project.name)}/reports" data-key="Escape" title="Back to the reports (Esc)">‹ Reports of ${project.name}</a>${
    row.alertId !== null && html` · about <a href="${base}/a/${row.alertId}">#${row.alertId}</a>`
  }</p>
<h1 dir="auto">${titleOf(row)}</h1>
<p>Readers see: ${standingBadge(standing)}</p>`;
}

/** The whole report as one Markdown document, to be filed. */
export function exportFile({ tenant: { store }, params }: PageCall): PageFile {
  const { row } = reportOf(store, params);
  const entries = entryRows(store, row.id).map((each) => ({ ...each, type: each.entryType }));
  return {
    name: `report-${row.id}.md`,
    type: "text/markdown; charset=utf-8",
    body: exportMarkdown(row, entries),
  };
}
