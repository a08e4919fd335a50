import { html, type Markup } from "../../../ground/kit/html.ts";
import type { EntryRow } from "../../../records/reports/entries.ts";
import { TYPE_WORDS } from "../../../records/reports/report.ts";
import type { PageCall } from "../screen.ts";
import { button } from "./form.ts";
import { ago } from "./times.ts";

/** One published entry of a report, with what is done to it. `path`: of its editor; `by`: who wrote it. Pure. */
export function entryRow(
  call: Pick<PageCall, "base" | "now" | "look">,
  {
    id,
    title,
    entryType,
    contentMd,
    createdAt,
  }: Pick<EntryRow, "id" | "title" | "entryType" | "contentMd" | "createdAt">,
  { path, by }: { path: string; by: string },
): Markup {
  const name = title || TYPE_WORDS[entryType];
  return html`<li class="who-item" id="entry-${id}"><div class="who-text"><p><strong dir="auto">${name}</strong> <span class="soft">${title !== "" && `${TYPE_WORDS[entryType]} · `}${by}, ${ago(call, createdAt)}</span></p><p dir="auto">${firstLine(contentMd)}</p></div><div class="buttons"><a class="button second" href="${call.base}${path}?entry=${id}#write" aria-label="Edit: ${name}">Edit</a><details id="delete-${id}"><summary aria-label="Delete: ${name}">Delete</summary><p>Readers no longer see it, and its text is deleted.</p>${button(
    call,
    {
      action: `${path}/entries/${id}/delete`,
      name: "Delete the entry",
      kind: "danger",
      label: `Delete the entry: ${name}`,
    },
  )}</details></div></li>
`;
}

/** The first line with words, without the marks of Markdown, at most 80 characters. */
export function firstLine(markdown: string): string {
  const line = markdown.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  const words = line.replace(/^[\s>#*+-]+|[*_`]+/g, "").trim();
  const points = [...words];
  return points.length > 80 ? `${points.slice(0, 79).join("")}…` : words;
}
