import { z } from "zod";
import { mustBeLive } from "../../../core/alerts/alert.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { exportMarkdown } from "../../../records/reports/draft.ts";
import { entryRows, toEntry } from "../../../records/reports/entries.ts";
import {
  createReport,
  deleteReport,
  getReport,
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
import { deleted, projectPath, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";
import { findReport, reportEntryRoutes } from "./report-entries.ts";

const BASE = "/v1/projects/{id}/reports";
const TAG = "Reports";
const reportPath = z.strictObject({ id: z.string(), rid: z.string() });

const writeErrors = ["invalid_request", "invalid_json", "not_found"] as const;

/** contract §15, Reports. */
export const reportRoutes: Route[] = [
  route({
    method: "GET",
    path: BASE,
    name: "listReports",
    tag: TAG,
    summary: "The project's reports, newest first",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ reports: z.array(reportAnswer) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      reports: listReports(tenant.store, getProject(tenant.store, params.id)),
    }),
  }),
  route({
    method: "POST",
    path: BASE,
    name: "createReport",
    tag: TAG,
    summary: "Create a report; its page is at /public/reports/{public_uuid}",
    plane: "api",
    params: projectPath,
    body: reportCreate,
    readOnly: reportReadOnly,
    status: 201,
    answer: z.object({ id: z.string(), public_uuid: z.string() }),
    errors: [...writeErrors, "unknown_alert", "overloaded"],
    async handle({ tenant, params, body, actor }) {
      getProject(tenant.store, params.id);
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
  route({
    method: "GET",
    path: `${BASE}/{rid}`,
    name: "getReport",
    tag: TAG,
    summary: "One report and its entries, newest last",
    plane: "api",
    params: reportPath,
    status: 200,
    answer: z.object({ report: reportAnswer, entries: z.array(entryAnswer) }),
    errors: ["not_found"],
    handle({ tenant: { store }, params }) {
      const project = getProject(store, params.id);
      const row = getReport(store, project, params.rid);
      return { report: toReport(row, project), entries: entryRows(store, row.id).map(toEntry) };
    },
  }),
  route({
    method: "PUT",
    path: `${BASE}/{rid}`,
    name: "updateReport",
    tag: TAG,
    summary: "Change title, description (kept when omitted) and password (tri-state)",
    plane: "api",
    params: reportPath,
    body: reportChange,
    // What it is tied to is fixed when it is made.
    readOnly: [...reportReadOnly, "alert_id"],
    status: 200,
    answer: updated,
    errors: [...writeErrors, "overloaded"],
    async handle({ tenant, params, body }) {
      findReport(tenant.store, params);
      const change = await passwordChange(tenant.passwords, body.view_password);
      tenant.store.write((tx) =>
        updateReport(
          tx,
          { project: getProject(tx, params.id), id: params.rid },
          { title: body.title, description: body.description, password: change },
        ),
      );
      return { updated: true };
    },
  }),
  route({
    method: "DELETE",
    path: `${BASE}/{rid}`,
    name: "deleteReport",
    tag: TAG,
    summary: "Delete a report with its entries; its page answers 404",
    plane: "api",
    params: reportPath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteReport(tx, getProject(tx, params.id), params.rid));
      return { deleted: true };
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/{rid}/rotate-uuid`,
    name: "rotateReportUuid",
    tag: TAG,
    summary: "Give the report's page a new address; the old one answers 404",
    plane: "api",
    params: reportPath,
    status: 200,
    answer: z.object({ public_uuid: z.string() }),
    errors: ["not_found"],
    handle: ({ tenant, params }) =>
      tenant.store.write((tx) => rotateUuid(tx, getProject(tx, params.id), params.rid)),
  }),
  route({
    method: "GET",
    path: `${BASE}/{rid}/export.md`,
    name: "exportReport",
    tag: TAG,
    summary: "The whole report as one Markdown document, oldest entry first",
    plane: "api",
    additive: true,
    params: reportPath,
    status: 200,
    answer: z.string(),
    errors: ["not_found"],
    handle({ tenant: { store }, params }) {
      const row = findReport(store, params);
      const entries = entryRows(store, row.id).map((each) => ({ ...each, type: each.entryType }));
      return new Response(exportMarkdown(row, entries), {
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
