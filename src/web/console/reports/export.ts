import { exportMarkdown } from "../../../records/reports/draft.ts";
import { entryRows } from "../../../records/reports/entries.ts";
import type { PageCall, PageFile } from "../screen.ts";
import { reportOf } from "./shown-report.ts";

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
