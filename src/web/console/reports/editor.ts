import { readTimeline } from "../../../core/alerts/timeline.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { draftEntry, exportMarkdown, type TimelineStep } from "../../../records/reports/draft.ts";
import { entryRows } from "../../../records/reports/entries.ts";
import { newestFirst, titleOf } from "../../../records/reports/report.ts";
import { clockText } from "../../../records/reports/times.ts";
import { WITH_FRAME } from "../answer.ts";
import type { PageCall, PageFile, Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { entryRow } from "../ui/entry-row.ts";
import { area, button, field } from "../ui/form.ts";
import { naming } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { entryActions } from "./entry-actions.ts";
import { readersAddress, standingBadge } from "./list.ts";
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
        write: () => writeForm(call, shown),
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
function exportFile({ tenant: { store }, params }: PageCall): PageFile {
  const { row } = reportOf(store, params);
  const entries = entryRows(store, row.id).map((each) => ({ ...each, type: each.entryType }));
  return {
    name: `report-${row.id}.md`,
    type: "text/markdown; charset=utf-8",
    body: exportMarkdown(row, entries),
  };
}

/** What is public, newest first as readers have it; each is changed in place, or deleted. */
function published(call: PageCall, { entries, path }: ShownReport): Markup {
  if (entries.length === 0)
    return html`<h2>Published</h2><p class="soft">Nothing yet: readers see “Reported”, and what is known.</p>`;
  const nameOf = naming(call.tenant.store);
  return html`<h2>Published: ${counted(entries.length, "entry", "entries")}</h2>
<ol class="who">${newestFirst(entries).map((entry) => entryRow(call, entry, { path, by: nameOf(entry.createdBy) }))}</ol>`;
}

const MOMENTS: readonly (readonly [kind: string, name: string])[] = [
  ["opened", "It was detected"],
  ["acknowledged", "It was acknowledged"],
  ["resolved", "It was resolved"],
];

/** What the box itself knows, to be put in where one writes; without script to be copied. */
function factsSection({ tenant: { store } }: PageCall, { row }: ShownReport): Markup {
  const steps = row.alertId === null ? [] : readTimeline(store, row.alertId);
  return html`<div class="report-facts"><div class="buttons scripted">${steps.length > 0 && html`<button type="button" class="second" id="insert-facts">From the alert's facts</button>`}<details class="menu" id="times"><summary class="button second">Times</summary><div>${times(steps)}</div></details></div>
${steps.length > 0 && draft(store, steps)}</div>`;
}

function times(steps: readonly TimelineStep[]): Markup {
  const known = MOMENTS.flatMap(([kind, name]) => {
    const step = steps.find((one) => one.kind === kind);
    return step === undefined ? [] : [{ name, at: `${clockText(step.at)} UTC` }];
  });
  return html`<button type="button" data-insert-now>Now, in UTC</button>${known.map(
    ({ name, at }) => html`<button type="button" data-insert="${at}">${name}: ${at}</button>`,
  )}`;
}

function draft(store: PageCall["tenant"]["store"], steps: readonly TimelineStep[]): Markup {
  const { title, entry_type, content_md } = draftEntry(steps);
  const names = listAccounts(store).flatMap(({ display_name, email }) => [display_name, email]);
  const lines = linesToTouch(content_md, names);
  return html`<details id="alert-facts"><summary>What the box knows of the alert</summary><p class="soft">A draft to be edited: it names nobody, no rule and no address.</p><pre class="code wrap" id="facts-text" data-title="${title}" data-type="${entry_type}" data-touch="${lines.join(" ")}">${content_md}</pre></details>`;
}

/** What may name people or places inside the company, and what is still to be written. Pure. */

const ADDRESSES: readonly RegExp[] = [
  /[^\s@<>()]+@[^\s@<>()]+\.[a-z]{2,}/i, // e-mail
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/, // IPv4
  /\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,}\b/i, // IPv6
  /\+\d[\d ()/-]{6,}\d/, // a phone's number
  /\bhttps?:\/\//i,
  /\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|corp|intern|home)\b/i, // a name within the company
];

/** Shorter names are words, too. */
const SHORTEST_NAME = 3;

/** The lines of a text, from nought, that name somebody of `names` or an address, or that are still to be written (`…`). */
export function linesToTouch(text: string, names: readonly string[]): number[] {
  const known = names
    .filter((name) => [...name].length >= SHORTEST_NAME)
    .map((name) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(name)}(?![\\p{L}\\p{N}])`, "iu"));
  const isOne = (line: string) =>
    line.trimEnd().endsWith("…") || [...ADDRESSES, ...known].some((what) => what.test(line));
  return text.split("\n").flatMap((line, at) => (isOne(line) ? [at] : []));
}

/** Where readers find it, who may read it, and what ends that; each says what dies with it. */
function manageSection(call: PageCall, shown: ShownReport): Markup {
  const { row, path, entries } = shown;
  const address = readersAddress(call, row.publicUuid);
  const gated = row.passwordHash !== null;
  const isOpen = (action: string) => call.returned?.action === action && html` open`;
  const [rename, password] = [`${path}/change`, `${path}/password`];
  return html`<h2>Its page</h2>
<p>Public at <a href="${address}" id="address" class="mono">${address}</a>${
    gated
      ? html`: <strong>protected</strong>, readers need its password.`
      : html`: whoever has the address reads it.`
  }</p>
<p class="buttons"><button type="button" class="button second" data-copy="address">Copy the address</button>${
    gated
      ? html`<span class="soft">No feed: feed readers can't enter a password.</span>`
      : html`<a class="button second" href="${address}/feed.xml">Feed</a>`
  }<a class="button second" href="${call.base}${path}/export.md">Export .md</a></p>
<details id="change"${isOpen(rename)}><summary>Title, and what is known</summary>${titleForm(call, shown, rename)}</details>
<details id="password"${isOpen(password)}><summary>Password</summary>${passwordForm(call, password, gated)}</details>
<details id="new-address"><summary>New address</summary><p>The page gets another address. Links to the old one, its feed${gated && ", and whoever has entered the password"} reach nothing any more, at once; you tell the new one to those who should have it.</p>${button(call, { action: `${path}/address`, name: "Give it a new address", kind: "danger" })}</details>
<details id="delete"><summary>Delete</summary><p>With it go its page, its feed and ${counted(entries.length, "entry", "entries")}. Readers find nothing there; it can't be undone: export it first.</p>${button(call, { action: `${path}/delete`, name: "Delete the report", kind: "danger" })}</details>`;
}

function titleForm(call: PageCall, { row }: ShownReport, action: string): Markup {
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "title", label: "Title", prose: true, value: row.title, autocomplete: "off" })}
${area(call, action, { name: "description", label: "What is known", rows: 4, value: row.description })}
<p class="form-foot"><button class="button second">Save, public at once</button></p></form>`;
}

function passwordForm(call: PageCall, action: string, gated: boolean): Markup {
  const words = gated
    ? "With another password, or none, readers who have entered this one are asked again, or never more."
    : "With one, readers see a form, and nothing of the report, until they enter it; the feed ends.";
  return html`<p>${words}</p><form class="form" method="post" action="${call.base}${action}"><input type="text" autocomplete="username" value="report" hidden>
${field(call, action, { name: "view_password", label: gated ? "New password" : "Password", type: "password", required: true, autocomplete: "new-password" })}
<p class="form-foot"><button class="button second">${gated ? "Change it" : "Protect the report"}</button>${
    gated &&
    html`<button class="button danger" name="remove" value="yes" formnovalidate>Remove it: whoever has the address reads</button>`
  }</p></form>`;
}
