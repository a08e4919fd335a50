import { html, type Markup } from "../../../ground/kit/html.ts";
import { newestFirst, TYPE_WORDS } from "../../../records/reports/report.ts";
import type { PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { naming } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";
import { firstLine, type ShownReport } from "./shown-report.ts";

/** What is public, newest first as readers have it; each is changed in place, or deleted. */
export function published(call: PageCall, { entries, path }: ShownReport): Markup {
  if (entries.length === 0)
    return html`<h2>Published</h2><p class="soft">Nothing yet: readers see “Reported”, and what is known.</p>`;
  const nameOf = naming(call.tenant.store);
  return html`<h2>Published: ${counted(entries.length, "entry", "entries")}</h2>
<ol class="who">${newestFirst(entries).map(
    ({ id, title, entryType, contentMd, createdAt, createdBy }) => {
      const name = title || TYPE_WORDS[entryType];
      return html`<li class="who-item" id="entry-${id}"><div><p><strong dir="auto">${name}</strong> <span class="soft">${title !== "" && `${TYPE_WORDS[entryType]} · `}${nameOf(createdBy)}, ${ago(call, createdAt)}</span></p><p dir="auto">${firstLine(contentMd)}</p></div><div class="buttons"><a class="button second" href="${call.base}${path}?entry=${id}#write" aria-label="Edit: ${name}">Edit</a><details id="delete-${id}"><summary aria-label="Delete: ${name}">Delete</summary><p>Readers no longer see it, and its text is deleted.</p>${button(
        call,
        {
          action: `${path}/entries/${id}/delete`,
          name: "Delete the entry",
          kind: "danger",
          label: `Delete the entry: ${name}`,
        },
      )}</details></div></li>
`;
    },
  )}</ol>`;
}
