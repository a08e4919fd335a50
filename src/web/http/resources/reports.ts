import * as z from "zod";
import { mustBeLive } from "../../../core/alerts/alert.ts";
import { readTimeline } from "../../../core/alerts/timeline.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { draftEntry, exportMarkdown } from "../../../records/reports/draft.ts";
import {
  addEntry,
  deleteEntry,
  entryRows,
  getEntry,
  toEntry,
  updateEntry,
} from "../../../records/reports/entries.ts";
import {
  createReport,
  deleteReport,
  getReport,
  listReports,
  passwordChange,
  type ReportRow,
  rotateUuid,
  toReport,
  updateReport,
} from "../../../records/reports/reports.ts";
import {
  entryAnswer,
  entryDraft,
  entryWrite,
  reportAnswer,
  reportChange,
  reportCreate,
} from "../../../records/reports/written.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn, scopeBelow } from "../scope.ts";

const ofReport = scopeBelow(inProject, "/reports/{rid}", (reader, { project, params }) => ({
  report: getReport(reader, project, params.rid),
}));
const entries = routesIn(ofReport, { tag: "Reports" });

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
const reportEntryRoutes: Route[] = [
  entries.post("/preview", {
    name: "previewReportEntry",
    summary:
      "An entry as readers would see it, by the renderer that makes entries; nothing is stored",
    additive: true,
    body: entryWrite,
    reads: entryAnswer,
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
  entries.post("/entries", {
    name: "addReportEntry",
    summary:
      "Add an entry (an update unless entry_type says otherwise); its Markdown is rendered now",
    body: entryWrite,
    reads: entryAnswer,
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
  entries.put("/entries/{eid}", {
    name: "updateReportEntry",
    summary:
      "Replace an entry's content, rendered anew; title and entry_type are kept when omitted",
    body: entryWrite,
    reads: entryAnswer,
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
  entries.delete("/entries/{eid}", {
    name: "deleteReportEntry",
    summary: "Delete an entry",
    write: (tx, { report, params }) => deleteEntry(tx, report, params.eid),
  }),
  entries.post("/entries/draft", {
    name: "draftReportEntry",
    summary: "The history of the report's alert, as an entry to edit; stores nothing",
    additive: true,
    answer: entryDraft,
    errors: ["unknown_alert"],
    read: (store, { report }) => draftEntry(timelineOf(store, report)),
  }),
];

const reports = routesIn(inProject, { at: "/reports", tag: "Reports" });
const report = routesIn(ofReport, { tag: "Reports" });

/** contract §15, Reports. */
export const reportRoutes: Route[] = [
  reports.get("", {
    name: "listReports",
    summary: "The project's reports, newest first",
    answer: z.object({ reports: z.array(reportAnswer) }),
    read: (store, { project }) => ({ reports: listReports(store, project) }),
  }),
  reports.post("", {
    name: "createReport",
    summary: "Create a report; its page is at /public/reports/{public_uuid}",
    body: reportCreate,
    reads: reportAnswer,
    status: 201,
    answer: z.object({ id: z.string(), public_uuid: z.string() }),
    errors: ["unknown_alert", "overloaded"],
    handle: async ({ tenant, params, body, actor }) => {
      const change = await passwordChange(tenant.passwords, body.view_password);
      return tenant.store.write((tx) => {
        const project = getProject(tx, params.id);
        return createReport(tx, project, {
          title: body.title,
          description: body.description,
          alertId: body.alert_id === "" ? null : mustBeLive(tx, project.id, body.alert_id),
          passwordHash: typeof change === "object" ? change.hash : null,
          createdBy: actor.accountId,
        });
      });
    },
  }),
  report.get("", {
    name: "getReport",
    summary: "One report and its entries, newest last",
    answer: z.object({ report: reportAnswer, entries: z.array(entryAnswer) }),
    read: (store, { project, report }) => ({
      report: toReport(report, project),
      entries: entryRows(store, report.id).map(toEntry),
    }),
  }),
  report.put("", {
    name: "updateReport",
    summary:
      'Change title, description (kept when left out) and password: `view_password` sets it, `""` removes it, left out it stays',
    body: reportChange,
    reads: reportAnswer,
    errors: ["overloaded"],
    handle: async ({ tenant, params, body }) => {
      const change = await passwordChange(tenant.passwords, body.view_password);
      tenant.store.write((tx) =>
        updateReport(
          tx,
          { project: getProject(tx, params.id), id: params.rid },
          { title: body.title, description: body.description, password: change },
        ),
      );
    },
  }),
  report.delete("", {
    name: "deleteReport",
    summary: "Delete a report with its entries; its page answers 404",
    write: (tx, { params, project }) => deleteReport(tx, project, params.rid),
  }),
  report.post("/rotate-uuid", {
    name: "rotateReportUuid",
    summary: "Give the report's page a new address; the old one answers 404",
    answer: z.object({ public_uuid: z.string() }),
    write: (tx, { params, project }) => rotateUuid(tx, project, params.rid),
  }),
  report.get("/export.md", {
    name: "exportReport",
    summary: "The whole report as one Markdown document, oldest entry first",
    additive: true,
    answer: z.string(),
    read: (store, { report }) => {
      const entries = entryRows(store, report.id).map((each) => ({
        ...each,
        type: each.entryType,
      }));
      return new Response(exportMarkdown(report, entries), {
        headers: {
          "content-type": "text/markdown; charset=utf-8",
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      });
    },
  }),
  ...reportEntryRoutes,
];
