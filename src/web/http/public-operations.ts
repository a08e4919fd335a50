import { pageAnswer, type RawOperation, rawOperation, textAnswer } from "./raw-operation.ts";

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

const needsPassword = "The report has a password: a form, or an error as JSON";
const missing = "Never was, was rotated, or is deleted: one answer for all";

const common = { tag: "Public reports", first: true } as const;
const PATH = "/public/reports/{uuid}";

/** The public pages as the OpenAPI document shows them. */
export const publicOperations: readonly RawOperation[] = [
  rawOperation("GET", PATH, {
    ...common,
    name: "readPublicReport",
    summary:
      "The report as a page, or as JSON by Accept; ?refresh=off for a page that stays as it is",
    answers: {
      200: pageAnswer("OK", { "application/json": { schema: publicReport } }),
      401: needsPassword,
      404: missing,
    },
  }),
  rawOperation("POST", PATH, {
    ...common,
    name: "openPublicReport",
    summary:
      "Enter the password of a report: back to its page, with a cookie that opens it for 12 hours",
    form,
    answers: {
      303: "Right, or none is needed",
      401: "Wrong: the form again, or an error as JSON",
      404: missing,
      413: "A form over 4 KiB",
      429: "More than ten tries a minute; Retry-After says how long to wait",
    },
  }),
  rawOperation("GET", `${PATH}/feed.xml`, {
    ...common,
    name: "followPublicReport",
    summary: "The report as an Atom feed",
    answers: {
      200: textAnswer("OK", "application/atom+xml"),
      401: needsPassword,
      404: missing,
    },
  }),
];
