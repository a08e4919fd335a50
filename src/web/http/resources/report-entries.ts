import * as z from "zod";
import { readTimeline } from "../../../core/alerts/timeline.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { draftEntry } from "../../../records/reports/draft.ts";
import { addEntry, deleteEntry, getEntry, updateEntry } from "../../../records/reports/entries.ts";
import { getReport, type ReportRow } from "../../../records/reports/reports.ts";
import { entryDraft, entryReadOnly, entryWrite } from "../../../records/reports/written.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn, scopeBelow } from "../scope.ts";

export const ofReport = scopeBelow(inProject, "/reports/{rid}", (reader, { project, params }) => ({
  report: getReport(reader, project, params.rid),
}));
const report = routesIn(ofReport, { tag: "Reports" });

/** Escaped, 65,536 code points need twelve bytes each. */
const ENTRY_BYTES = 1024 * 1024;

/** The steps of the alert that a report is tied to. Throws 422 where there is none, or not any more. */
function timelineOf(reader: Reader, { alertId }: ReportRow) {
  const steps = alertId === null ? [] : readTimeline(reader, alertId);
  if (steps.length > 0) return steps;
  const message = "The report is tied to no alert, or its alert is deleted.";
  throw new ServiceError("unknown_alert", message);
}

/** contract §15, Reports: the entries. */
export const reportEntryRoutes: Route[] = [
  report.post("/preview", {
    name: "previewReportEntry",
    summary:
      "An entry as readers would see it, by the renderer that makes entries; nothing is stored",
    additive: true,
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    answer: z.object({
      content_html: z.string(),
      dropped: z.array(z.string()).meta({
        description:
          "What was left out: `image` (it became a link), `<script>`, `link` for one that leads nowhere.",
      }),
    }),
    errors: ["content_too_complex", "overloaded"],
    handle: async ({ tenant, body }) => {
      const { html, dropped } = await tenant.renderer.preview(body.content_md);
      return { content_html: html, dropped };
    },
  }),
  report.post("/entries", {
    name: "addReportEntry",
    summary:
      "Add an entry (an update unless entry_type says otherwise); its Markdown is rendered now",
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["content_too_complex", "overloaded"],
    handle: async ({ tenant, project, params, body, actor }) => {
      const contentHtml = await tenant.renderer.render(body.content_md);
      return tenant.store.write((tx) =>
        addEntry(tx, getReport(tx, project, params.rid), {
          title: body.title ?? "",
          entryType: body.entry_type ?? "update",
          contentMd: body.content_md,
          contentHtml,
          createdBy: actor.accountId,
        }),
      );
    },
  }),
  report.put("/entries/{eid}", {
    name: "updateReportEntry",
    summary:
      "Replace an entry's content, rendered anew; title and entry_type are kept when omitted",
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    errors: ["content_too_complex", "overloaded"],
    handle: async ({ tenant, project, report, params, body }) => {
      getEntry(tenant.store, report, params.eid);
      const contentHtml = await tenant.renderer.render(body.content_md);
      tenant.store.write((tx) =>
        updateEntry(
          tx,
          { report: getReport(tx, project, params.rid), id: params.eid },
          {
            title: body.title,
            entryType: body.entry_type,
            contentMd: body.content_md,
            contentHtml,
          },
        ),
      );
    },
  }),
  report.delete("/entries/{eid}", {
    name: "deleteReportEntry",
    summary: "Delete an entry",
    write: (tx, { report, params }) => deleteEntry(tx, report, params.eid),
  }),
  report.post("/entries/draft", {
    name: "draftReportEntry",
    summary: "The history of the report's alert, as an entry to edit; stores nothing",
    additive: true,
    answer: entryDraft,
    errors: ["unknown_alert"],
    read: (store, { report }) => draftEntry(timelineOf(store, report)),
  }),
];
