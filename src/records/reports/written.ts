import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";

/** Reports and entries as their writers send and read them (contract §13; §15, Reports). */

const title = text(256);
const description = text(4096);
const password = text(72);

export const reportCreate = z
  .strictObject({
    title,
    description: description.default(""),
    alert_id: text(64).default(""),
    view_password: password.default(""),
  })
  .meta({ id: "ReportWrite" });

/** A change of a report. A description or password that is left out is kept. */
export const reportChange = z.strictObject({
  title,
  description: description.optional(),
  view_password: password.optional(),
});

export const reportAnswer = z
  .object({
    id: z.string(),
    project: z.string(),
    title: z.string(),
    description: z.string(),
    /** Empty for none. */
    alert_id: z.string(),
    password_protected: z.boolean(),
    public_uuid: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
    created_by: z.string(),
  })
  .meta({ id: "Report" });
export type ReportAnswer = z.output<typeof reportAnswer>;

const entryType = z.enum(["update", "analysis", "resolution"], {
  error: "must be one of update, analysis, resolution",
});

/** The body that makes an entry or replaces its content. */
export const entryWrite = z
  .strictObject({
    content_md: text(65_536),
    entry_type: entryType.optional(),
    title: text(256).optional(),
  })
  .meta({ id: "ReportEntryWrite" });

export const entryAnswer = z
  .object({
    id: z.string(),
    report_id: z.string(),
    title: z.string(),
    entry_type: entryType,
    content_md: z.string(),
    /** Rendered once, when the entry is written. */
    content_html: z.string(),
    created_at: z.int(),
    created_by: z.string(),
  })
  .meta({ id: "ReportEntry" });
export type EntryAnswer = z.output<typeof entryAnswer>;

/** An entry for a person to edit and then post. */
export const entryDraft = z.object({
  title: z.string(),
  entry_type: entryType,
  content_md: z.string(),
});
export type EntryDraft = z.output<typeof entryDraft>;
