import * as z from "zod";
import { mustBeLive } from "../../../core/alerts/alert.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { exportMarkdown } from "../../../records/reports/draft.ts";
import { entryRows, toEntry } from "../../../records/reports/entries.ts";
import {
  createReport,
  deleteReport,
  listReports,
  passwordChange,
  rotateUuid,
  toReport,
  updateReport,
} from "../../../records/reports/reports.ts";
import {
  entryAnswer,
  reportAnswer,
  reportChange,
  reportCreate,
  reportReadOnly,
} from "../../../records/reports/written.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";
import { ofReport, reportEntryRoutes } from "./report-entries.ts";

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
    readOnly: reportReadOnly,
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
    // What it is tied to is fixed when it is made.
    readOnly: [...reportReadOnly, "alert_id"],
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
