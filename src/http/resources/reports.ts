import { z } from "zod";
import { readTimeline } from "../../alerts/timeline.ts";
import { ServiceError } from "../../kit/errors.ts";
import { getProject } from "../../projects/projects.ts";
import { draftEntry, exportMarkdown } from "../../reports/draft.ts";
import {
  addEntry,
  deleteEntry,
  entryRows,
  getEntry,
  toEntry,
  updateEntry,
} from "../../reports/entries.ts";
import {
  createReport,
  deleteReport,
  getReport,
  listReports,
  type PasswordChange,
  type ReportRow,
  rotateUuid,
  toReport,
  updateReport,
} from "../../reports/reports.ts";
import type { Reader } from "../../store/store.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { deleted, projectPath, text, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const BASE = "/v1/projects/{id}/reports";
const TAG = "Reports";
const reportPath = z.strictObject({ id: z.string(), rid: z.string() });
const entryPath = z.strictObject({ id: z.string(), rid: z.string(), eid: z.string() });

const title = text(256);
const description = text(4096);
const password = text(72);
const entryType = z.enum(["update", "analysis", "resolution"], {
  error: "must be one of update, analysis, resolution",
});

const reportReads = [
  ...["id", "project", "password_protected", "public_uuid"],
  ...["created_at", "updated_at", "created_by"],
];
const entryReads = ["id", "report_id", "content_html", "created_at", "created_by"];

/** Escaped, 65,536 code points need twelve bytes each. */
const ENTRY_BYTES = 1024 * 1024;

const report = z
  .object({
    id: z.string(),
    project: z.string(),
    title: z.string(),
    description: z.string(),
    alert_id: z.string(),
    password_protected: z.boolean(),
    public_uuid: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
    created_by: z.string(),
  })
  .meta({ id: "Report" });

const entry = z
  .object({
    id: z.string(),
    report_id: z.string(),
    title: z.string(),
    entry_type: entryType,
    content_md: z.string(),
    content_html: z.string(),
    created_at: z.int(),
    created_by: z.string(),
  })
  .meta({ id: "ReportEntry" });

const entryBody = z
  .strictObject({
    content_md: text(65_536),
    entry_type: entryType.optional(),
    title: title.optional(),
  })
  .meta({ id: "ReportEntryWrite" });

const writeErrors = ["invalid_request", "invalid_json", "not_found"] as const;
const renderErrors = [...writeErrors, "content_too_complex", "overloaded"] as const;

function find(reader: Reader, { id, rid }: { id: string; rid: string }): ReportRow {
  return getReport(reader, getProject(reader, id), rid);
}

/** Key omitted: kept. Empty: cleared. Anything else: set (api §4, Reports). */
async function passwordChange(tenant: Tenant, given?: string): Promise<PasswordChange> {
  if (given === undefined) return "keep";
  return given === "" ? "clear" : { hash: await tenant.passwords.hash(given) };
}

/** The steps of the alert that a report is tied to. Throws 422 where there is none, or not any more. */
function timelineOf(reader: Reader, { alertId }: ReportRow) {
  const steps = alertId === null ? [] : readTimeline(reader, alertId);
  if (steps.length > 0) return steps;
  const message = "The report is tied to no alert, or its alert is deleted.";
  throw new ServiceError("unknown_alert", message);
}

const reportItself: Route[] = [
  route({
    method: "GET",
    path: BASE,
    name: "listReports",
    tag: TAG,
    summary: "The project's reports, newest first",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ reports: z.array(report) }),
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
    body: z
      .strictObject({
        title,
        description: description.default(""),
        alert_id: text(64).default(""),
        view_password: password.default(""),
      })
      .meta({ id: "ReportWrite" }),
    readOnly: reportReads,
    status: 201,
    answer: z.object({ id: z.string(), public_uuid: z.string() }),
    errors: [...writeErrors, "unknown_alert", "overloaded"],
    async handle({ tenant, params, body, actor }) {
      getProject(tenant.store, params.id);
      const change = await passwordChange(tenant, body.view_password);
      return tenant.store.write((tx) =>
        createReport(tx, getProject(tx, params.id), {
          title: body.title,
          description: body.description,
          alertId: body.alert_id,
          passwordHash: typeof change === "object" ? change.hash : null,
          createdBy: actor.accountId,
        }),
      );
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
    answer: z.object({ report, entries: z.array(entry) }),
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
    body: z.strictObject({
      title,
      description: description.optional(),
      view_password: password.optional(),
    }),
    // What it is tied to is fixed when it is made.
    readOnly: [...reportReads, "alert_id"],
    status: 200,
    answer: updated,
    errors: [...writeErrors, "overloaded"],
    async handle({ tenant, params, body }) {
      find(tenant.store, params);
      const change = await passwordChange(tenant, body.view_password);
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
      const row = find(store, params);
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
];

const entries: Route[] = [
  route({
    method: "POST",
    path: `${BASE}/{rid}/entries`,
    name: "addReportEntry",
    tag: TAG,
    summary:
      "Add an entry (an update unless entry_type says otherwise); its Markdown is rendered now",
    plane: "api",
    params: reportPath,
    body: entryBody,
    readOnly: entryReads,
    bodyLimit: ENTRY_BYTES,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: renderErrors,
    async handle({ tenant, params, body, actor }) {
      find(tenant.store, params);
      const contentHtml = await tenant.renderer.render(body.content_md);
      return tenant.store.write((tx) =>
        addEntry(tx, find(tx, params), {
          title: body.title ?? "",
          entryType: body.entry_type ?? "update",
          contentMd: body.content_md,
          contentHtml,
          createdBy: actor.accountId,
        }),
      );
    },
  }),
  route({
    method: "PUT",
    path: `${BASE}/{rid}/entries/{eid}`,
    name: "updateReportEntry",
    tag: TAG,
    summary:
      "Replace an entry's content, rendered anew; title and entry_type are kept when omitted",
    plane: "api",
    params: entryPath,
    body: entryBody,
    readOnly: entryReads,
    bodyLimit: ENTRY_BYTES,
    status: 200,
    answer: updated,
    errors: renderErrors,
    async handle({ tenant, params, body }) {
      getEntry(tenant.store, find(tenant.store, params), params.eid);
      const contentHtml = await tenant.renderer.render(body.content_md);
      tenant.store.write((tx) =>
        updateEntry(
          tx,
          { report: find(tx, params), id: params.eid },
          {
            title: body.title,
            entryType: body.entry_type,
            contentMd: body.content_md,
            contentHtml,
          },
        ),
      );
      return { updated: true };
    },
  }),
  route({
    method: "DELETE",
    path: `${BASE}/{rid}/entries/{eid}`,
    name: "deleteReportEntry",
    tag: TAG,
    summary: "Delete an entry",
    plane: "api",
    params: entryPath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteEntry(tx, find(tx, params), params.eid));
      return { deleted: true };
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/{rid}/entries/draft`,
    name: "draftReportEntry",
    tag: TAG,
    summary: "What happened to the tied alert, as an entry to edit; stores nothing",
    plane: "api",
    additive: true,
    params: reportPath,
    status: 200,
    answer: z.object({ title: z.string(), entry_type: entryType, content_md: z.string() }),
    errors: ["not_found", "unknown_alert"],
    handle: ({ tenant: { store }, params }) => draftEntry(timelineOf(store, find(store, params))),
  }),
];

/** api §4, Reports. */
export const reportRoutes: Route[] = [...reportItself, ...entries];
