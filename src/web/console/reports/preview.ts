import { ServiceError } from "../../../ground/kit/errors.ts";
import { previewPage } from "../../../records/reports/page.ts";
import { publicReport } from "../../../records/reports/public.ts";
import type { PublicReport } from "../../../records/reports/report.ts";
import type { Form, PageCall, RawDocument } from "../screen.ts";
import { writtenEntry } from "./entry-actions.ts";
import { reportOf } from "./shown-report.ts";

/** The id of an entry that isn't one yet. */
const UNPUBLISHED = "preview";

/** The report's page as its readers see it now, for the frame beside the editor. */
export const previewDocument = (call: PageCall): RawDocument => sheetOf(call, readReport(call), "");

/** The same with what the form holds: made by what makes the public page, and nothing is stored. */
export const previewAction: Form = {
  verb: "previewReportEntry",
  reads: true,
  async act(call, form) {
    const report = readReport(call);
    const sheet = await withEntry(call, report, form).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error;
      const [first] = error.details;
      const why = first === undefined || first.reason === "too_complex" ? "" : ` ${first.reason}.`;
      return sheetOf(call, report, `Not shown as you wrote it: ${error.message}${why}`);
    });
    return { said: "", sheet };
  },
};

function readReport({ tenant, params }: PageCall): PublicReport & { gated: boolean } {
  const { row } = reportOf(tenant.store, params);
  return { ...publicReport(tenant.store, row), gated: row.passwordHash !== null };
}

type Read = ReturnType<typeof readReport>;

function sheetOf({ now }: PageCall, { gated, ...report }: Read, beneath: string): RawDocument {
  return previewPage({ report, now, gated }, beneath);
}

async function withEntry(
  call: PageCall,
  report: Read,
  form: URLSearchParams,
): Promise<RawDocument> {
  const { title, entryType: type, contentMd } = writtenEntry(form);
  const edited = report.entries.find(({ id }) => id === form.get("entry"));
  if (contentMd.trim() === "" && edited === undefined) return sheetOf(call, report, "");
  const { html: contentHtml, dropped } = await call.tenant.renderer.preview(contentMd);
  const entry = { title, type, contentHtml };
  const entries =
    edited === undefined
      ? [...report.entries, { ...entry, id: UNPUBLISHED, createdAt: call.now }]
      : report.entries.map((one) => (one === edited ? { ...one, ...entry } : one));
  const updatedAt = call.now;
  return sheetOf(call, { ...report, entries, updatedAt }, droppedWords(dropped));
}

/** What readers won't see, named. Pure. */
function droppedWords(dropped: readonly string[]): string {
  const parts = [
    ...(dropped.includes("image") ? ["images, which became links"] : []),
    ...(dropped.includes("link") ? ["links that lead nowhere"] : []),
    ...dropped.filter((one) => one.startsWith("<")),
  ];
  return parts.length === 0 ? "" : `Left out: ${parts.join(", ")}.`;
}
