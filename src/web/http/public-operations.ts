import type { RawOperation } from "./openapi.ts";

const uuid = { name: "uuid", in: "path", required: true, schema: { type: "string" } };

const form = {
  type: "object",
  required: ["password"],
  properties: { password: { type: "string" } },
};

const publicReport = {
  type: "object",
  properties: {
    title: { type: "string" },
    description: { type: "string" },
    entries: {
      type: "array",
      items: {
        type: "object",
        properties: {
          title: { type: "string" },
          entry_type: { type: "string", enum: ["update", "analysis", "resolution"] },
          content_html: { type: "string" },
          created_at: { type: "integer" },
        },
      },
    },
    updated_at: { type: "integer" },
  },
};

const page = { "text/html": { schema: { type: "string" } } };
const needsPassword = { description: "The report has a password: a form, or an error as JSON" };
const missing = { description: "Never was, was rotated, or is deleted: one answer for all" };

function operation(path: string, method: string, more: object): RawOperation {
  const common = { tags: ["Public reports"], security: [], parameters: [uuid] };
  return { method, path: `/public/reports/{uuid}${path}`, operation: { ...common, ...more } };
}

/** The public pages as the OpenAPI document shows them. */
export const publicOperations: readonly RawOperation[] = [
  operation("", "GET", {
    operationId: "readPublicReport",
    summary:
      "The report as a page, or as JSON by Accept; ?refresh=off for a page that stays as it is",
    responses: {
      "200": {
        description: "OK",
        content: { ...page, "application/json": { schema: publicReport } },
      },
      "401": needsPassword,
      "404": missing,
    },
  }),
  operation("", "POST", {
    operationId: "openPublicReport",
    summary:
      "Enter the password of a report: back to its page, with a cookie that opens it for 12 hours",
    requestBody: {
      required: true,
      content: { "application/x-www-form-urlencoded": { schema: form } },
    },
    responses: {
      "303": { description: "Right, or none is needed" },
      "401": { description: "Wrong: the form again, or an error as JSON" },
      "404": missing,
      "413": { description: "A form over 4 KiB" },
      "429": { description: "More than ten tries a minute; Retry-After says how long to wait" },
    },
  }),
  operation("/feed.xml", "GET", {
    operationId: "followPublicReport",
    summary: "The report as an Atom feed",
    responses: {
      "200": {
        description: "OK",
        content: { "application/atom+xml": { schema: { type: "string" } } },
      },
      "401": needsPassword,
      "404": missing,
    },
  }),
];
