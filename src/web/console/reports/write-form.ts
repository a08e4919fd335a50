import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { EntryType } from "../../../ground/store/columns.ts";
import { STANDING_WORDS, standingOf, TYPE_WORDS } from "../../../records/reports/report.ts";
import type { PageCall } from "../screen.ts";
import { field, wrongOf } from "../ui/form.ts";
import { type ShownReport, versionOf } from "./shown-report.ts";

/** Characters of an entry. */
export const MOST_TEXT = 65_536;

const TYPES = Object.keys(TYPE_WORDS) as EntryType[];

/** What a field that came back holds, whichever entry's form it was: one that is gone becomes a new one. */
function fieldsOf({ returned }: PageCall, { path, edited }: ShownReport) {
  const back = returned?.action.startsWith(`${path}/entries`) ? returned.form : null;
  const stored = edited ?? { title: "", entryType: "update", contentMd: "" };
  return {
    title: back?.get("title") ?? stored.title,
    type: back?.get("entry_type") ?? stored.entryType,
    text: back?.get("content_md") ?? stored.contentMd,
  };
}

/** The form of one entry, new or published. Its script keeps what isn't published, and shows it as readers would see it. */
export function writeForm(call: PageCall, shown: ShownReport): Markup {
  const { path, edited, entries, row } = shown;
  const { title, type, text } = fieldsOf(call, shown);
  const action = edited === null ? `${path}/entries` : `${path}/entries/${edited.id}`;
  const standing = STANDING_WORDS[standingNow(shown)];
  const isLast = edited === null || edited.id === entries.at(-1)?.id;
  return html`<form id="entry" class="form" method="post" action="${call.base}${action}" data-editor="${row.id}:${edited?.id ?? "new"}" data-preview-to="${call.base}${path}/preview" data-standing="${standing}"${!isLast && html` data-old`}>
<h2>${edited === null ? "New entry" : "Edit the entry"}</h2>
${edited !== null && html`<p><a href="${call.base}${path}">Write a new one instead</a></p>`}${
  shown.isGone &&
  html`<p class="notice notice-warn">That entry is gone: what you write is a new one.</p>`
}
<input type="hidden" name="entry" value="${edited?.id ?? ""}"><input type="hidden" name="seen" value="${seenBy(shown)}">
<div class="report-line">${field(call, action, { name: "title", label: "Title", prose: true, value: title, autocomplete: "off", more: html`maxlength="256"` })}
<div class="field"><label for="entry-type">Type</label><select id="entry-type" name="entry_type">${TYPES.map(
    (one) =>
      html`<option value="${one}" data-standing="${STANDING_WORDS[one]}"${one === type && html` selected`}>${TYPE_WORDS[one]}${STANDING_WORDS[one] !== TYPE_WORDS[one] && `: “${STANDING_WORDS[one]}”`}</option>`,
  )}</select></div></div>
${textField(call, action, text)}
<div id="marks" class="notice notice-warn" hidden><p>Check these before you publish. Each leaves this list when you have changed or removed it:</p><ul></ul></div>
<p id="effect" hidden></p>
<div class="form-foot"><button class="button" data-key="Ctrl Enter" aria-keyshortcuts="Control+Enter" title="${edited === null ? "Publish" : "Save"} (Ctrl Enter)" data-busy="Publishing …">${edited === null ? "Publish entry" : "Save, public at once"}</button><span class="noscript"><button class="button second" formaction="${call.base}${path}/preview" formtarget="preview">Preview</button></span></div>
<p class="hint">Public as soon as it is published.</p></form>${conflict(call, shown)}`;
}

function textField(call: PageCall, action: string, text: string): Markup {
  const wrong = wrongOf(call, action, "content_md");
  const words = wrong === "too_complex" ? TOO_COMPLEX : wrong;
  return html`<div class="field"><label for="entry-text">Text, in Markdown</label>
<div class="buttons report-tools scripted" role="group" aria-label="Markdown">${TOOLS.map(
    ([id, face, name, key]) =>
      html`<button type="button" class="second" data-md="${id}" aria-label="${name}" title="${name}${key !== "" && ` (Ctrl ${key})`}">${face}</button>`,
  )}</div>
<textarea id="entry-text" name="content_md" rows="14" dir="auto" aria-describedby="entry-count${words !== null && " entry-wrong"}"${words !== null && html` aria-invalid="true"`}>
${text}</textarea>
${words !== null && html`<p class="wrong" id="entry-wrong">${words}</p>`}
<p class="hint report-kept"><span id="entry-count">${[...text].length.toLocaleString("en")} of ${MOST_TEXT.toLocaleString("en")}</span><span id="kept" class="scripted">Unpublished text is stored in this browser, unencrypted<span id="kept-at"></span>. <button type="button" class="button plain" id="discard" hidden>Discard it</button></span></p></div>`;
}

const TOO_COMPLEX =
  "It takes too long to render: very many brackets, stars or underscores, or a very long table. Part it into two entries, or write it plainer; nothing of it is lost.";

/** id, what stands on it, what it does, its key. */
const TOOLS: readonly (readonly [string, Piece, string, string])[] = [
  ["bold", html`<b>B</b>`, "Bold", "B"],
  ["italic", html`<i>I</i>`, "Italic", "I"],
  ["list", "•", "List", ""],
  ["link", "link", "Link", "K"],
  ["quote", "quote", "Quote", ""],
  ["table", "table", "Table", ""],
];

export function standingNow({ entries }: Pick<ShownReport, "entries">) {
  return standingOf(
    entries.map(({ id, title, entryType, contentHtml, createdAt }) => ({
      id,
      title,
      type: entryType,
      contentHtml,
      createdAt,
    })),
  );
}

/** What the writer has seen: of a published entry its version, of a new one which was the newest. */
const seenBy = ({ edited, entries }: Pick<ShownReport, "edited" | "entries">): string =>
  edited === null ? (entries.at(-1)?.id ?? "") : versionOf(edited);

/** What stands there now, where somebody else was quicker. */
function conflict({ returned }: PageCall, { edited }: ShownReport): Markup | null {
  if (returned?.error.code !== "version_conflict" || edited === null) return null;
  return html`<details id="theirs" open><summary>As it is now</summary><p><strong>${edited.title}</strong></p><pre class="code wrap">${edited.contentMd}</pre></details>`;
}
