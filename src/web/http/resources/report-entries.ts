import { z } from "zod";
import { readTimeline } from "../../../core/alerts/timeline.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { draftEntry } from "../../../records/reports/draft.ts";
import { addEntry, deleteEntry, getEntry, updateEntry } from "../../../records/reports/entries.ts";
import { getReport, type ReportRow } from "../../../records/reports/reports.ts";
import { entryDraft, entryReadOnly, entryWrite } from "../../../records/reports/written.ts";
import { deleted, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const BASE = "/v1/projects/{id}/reports/{rid}/entries";
const TAG = "Reports";
const reportPath = z.strictObject({ id: z.string(), rid: z.string() });
const entryPath = z.strictObject({ id: z.string(), rid: z.string(), eid: z.string() });

/** Escaped, 65,536 code points need twelve bytes each. */
const ENTRY_BYTES = 1024 * 1024;

const renderErrors = [
  "invalid_request",
  "invalid_json",
  "not_found",
  "content_too_complex",
  "overloaded",
] as const;

/** The report that a path names. Throws 404. */
export function findReport(reader: Reader, { id, rid }: { id: string; rid: string }): ReportRow {
  return getReport(reader, getProject(reader, id), rid);
}

/** The steps of the alert that a report is tied to. Throws 422 where there is none, or not any more. */
function timelineOf(reader: Reader, { alertId }: ReportRow) {
  const steps = alertId === null ? [] : readTimeline(reader, alertId);
  if (steps.length > 0) return steps;
  const message = "The report is tied to no alert, or its alert is deleted.";
  throw new ServiceError("unknown_alert", message);
}

/** contract §15, Reports: the entries. */
export const reportEntryRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/projects/{id}/reports/{rid}/preview",
    name: "previewReportEntry",
    tag: TAG,
    summary:
      "An entry as readers would see it, by the renderer that makes entries; nothing is stored",
    plane: "api",
    additive: true,
    params: reportPath,
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    status: 200,
    answer: z.object({
      content_html: z.string(),
      dropped: z.array(z.string()).meta({
        description:
          "What was left out: `image` (it became a link), `<script>`, `link` for one that leads nowhere.",
      }),
    }),
    errors: renderErrors,
    async handle({ tenant, params, body }) {
      findReport(tenant.store, params);
      const { html, dropped } = await tenant.renderer.preview(body.content_md);
      return { content_html: html, dropped };
    },
  }),
  route({
    method: "POST",
    path: BASE,
    name: "addReportEntry",
    tag: TAG,
    summary:
      "Add an entry (an update unless entry_type says otherwise); its Markdown is rendered now",
    plane: "api",
    params: reportPath,
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: renderErrors,
    async handle({ tenant, params, body, actor }) {
      findReport(tenant.store, params);
      const contentHtml = await tenant.renderer.render(body.content_md);
      return tenant.store.write((tx) =>
        addEntry(tx, findReport(tx, params), {
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
    path: `${BASE}/{eid}`,
    name: "updateReportEntry",
    tag: TAG,
    summary:
      "Replace an entry's content, rendered anew; title and entry_type are kept when omitted",
    plane: "api",
    params: entryPath,
    body: entryWrite,
    readOnly: entryReadOnly,
    bodyLimit: ENTRY_BYTES,
    status: 200,
    answer: updated,
    errors: renderErrors,
    async handle({ tenant, params, body }) {
      getEntry(tenant.store, findReport(tenant.store, params), params.eid);
      const contentHtml = await tenant.renderer.render(body.content_md);
      tenant.store.write((tx) =>
        updateEntry(
          tx,
          { report: findReport(tx, params), id: params.eid },
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
    path: `${BASE}/{eid}`,
    name: "deleteReportEntry",
    tag: TAG,
    summary: "Delete an entry",
    plane: "api",
    params: entryPath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteEntry(tx, findReport(tx, params), params.eid));
      return { deleted: true };
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/draft`,
    name: "draftReportEntry",
    tag: TAG,
    summary: "What happened to the tied alert, as an entry to edit; stores nothing",
    plane: "api",
    additive: true,
    params: reportPath,
    status: 200,
    answer: entryDraft,
    errors: ["not_found", "unknown_alert"],
    handle: ({ tenant: { store }, params }) =>
      draftEntry(timelineOf(store, findReport(store, params))),
  }),
];
