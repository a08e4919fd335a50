import { html, type Markup } from "../../../ground/kit/html.ts";
import { newestFirst } from "../../../records/reports/report.ts";
import type { PageCall } from "../screen.ts";
import { entryRow } from "../ui/entry-row.ts";
import { naming } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import type { ShownReport } from "./shown-report.ts";

/** What is public, newest first as readers have it; each is changed in place, or deleted. */
export function published(call: PageCall, { entries, path }: ShownReport): Markup {
  if (entries.length === 0)
    return html`<h2>Published</h2><p class="soft">Nothing yet: readers see “Reported”, and what is known.</p>`;
  const nameOf = naming(call.tenant.store);
  return html`<h2>Published: ${counted(entries.length, "entry", "entries")}</h2>
<ol class="who">${newestFirst(entries).map((entry) => entryRow(call, entry, { path, by: nameOf(entry.createdBy) }))}</ol>`;
}
