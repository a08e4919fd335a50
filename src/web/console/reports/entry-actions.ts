import { displayNameOf } from "../../../core/alerts/said.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid, ServiceError } from "../../../ground/kit/errors.ts";
import type { EntryType } from "../../../ground/store/columns.ts";
import type { Reader } from "../../../ground/store/store.ts";
import {
  addEntry,
  deleteEntry,
  type EntryRow,
  entryRows,
  getEntry,
  updateEntry,
} from "../../../records/reports/entries.ts";
import { STANDING_WORDS } from "../../../records/reports/report.ts";
import { entryWrite } from "../../../records/reports/written.ts";
import type { Form, FormDone, PageCall } from "../screen.ts";
import { firstLine } from "../ui/entry-row.ts";
import { formText } from "./create.ts";
import { reportOf, reportPath, versionOf } from "./shown-report.ts";
import { standingNow } from "./write-form.ts";

/** An entry as its form sends it. Throws 400. */
export function writtenEntry(form: URLSearchParams) {
  const { title = "", ...body } = check(
    entryWrite,
    {
      title: (form.get("title") ?? "").trim(),
      entry_type: form.get("entry_type") ?? "update",
      content_md: formText(form, "content_md"),
    },
    "body",
  );
  return {
    title,
    entryType: (body.entry_type ?? "update") as EntryType,
    contentMd: body.content_md,
  };
}

function mustSaySomething({ contentMd }: { contentMd: string }): void {
  if (contentMd.trim() === "")
    throw invalid([{ field: "/content_md", reason: "Write what readers should know." }]);
}

/** Nobody publishes past what they haven't seen. Throws 409. */
function mustHaveSeen(reader: Reader, newest: EntryRow | undefined, seen: string): void {
  if ((newest?.id ?? "") === seen) return;
  const message =
    newest === undefined
      ? "The entry that you went on from was deleted. Look at the page, then publish again."
      : `${displayNameOf(reader, newest.createdBy)} published “${newest.title || firstLine(newest.contentMd)}” while you wrote. Look at the page, then publish again.`;
  throw new ServiceError("version_conflict", message);
}

/** Throws 409 where it was changed or deleted since it was read. */
function unchangedEntry(call: PageCall, reader: Reader, seen: string): EntryRow {
  const { row } = reportOf(reader, call.params);
  const entry = entryRows(reader, row.id).find(({ id }) => id === call.params["report_entry"]);
  if (entry !== undefined && versionOf(entry) === seen) return entry;
  throw new ServiceError(
    "version_conflict",
    entry === undefined
      ? "Somebody deleted this entry while you wrote. What you wrote is still here: publish it as a new one, or leave it."
      : "Somebody changed this entry while you wrote. It stands below as it is now; save again to replace it by yours.",
  );
}

async function publish(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  const { tenant, params, who } = call;
  const entry = writtenEntry(form);
  mustSaySomething(entry);
  const seen = form.get("seen") ?? "";
  const { row } = reportOf(tenant.store, params);
  mustHaveSeen(tenant.store, entryRows(tenant.store, row.id).at(-1), seen);
  const contentHtml = await tenant.renderer.render(entry.contentMd);
  const { id } = tenant.store.write((tx) => {
    const { row: report } = reportOf(tx, params);
    mustHaveSeen(tx, entryRows(tx, report.id).at(-1), seen);
    return addEntry(tx, report, { ...entry, contentHtml, createdBy: who.accountId });
  });
  const path = reportPath(params);
  return {
    said: `Published: ${readersSee(call, row.id)}`,
    undo: { action: `${path}/entries/${id}/delete` },
    to: path,
  };
}

/** How it stands for readers from now on, and by which words. */
function readersSee({ tenant: { store } }: PageCall, reportId: string): string {
  const entries = entryRows(store, reportId);
  const newest = entries.at(-1);
  const words = newest === undefined ? "" : ` “${firstLine(newest.contentMd)}”`;
  return `readers see ${STANDING_WORDS[standingNow({ entries })]}.${words}`;
}

/** What is done to entries. */
export const entryActions: Readonly<Record<string, Form>> = {
  entries: { verb: "addReportEntry", act: publish },
  "entries/{report_entry}": {
    verb: "updateReportEntry",
    async act(call, form) {
      const { tenant, params } = call;
      const entry = writtenEntry(form);
      mustSaySomething(entry);
      const seen = form.get("seen") ?? "";
      unchangedEntry(call, tenant.store, seen);
      const contentHtml = await tenant.renderer.render(entry.contentMd);
      const report = tenant.store.write((tx) => {
        const { id } = unchangedEntry(call, tx, seen);
        const { row } = reportOf(tx, params);
        updateEntry(tx, { report: row, id }, { ...entry, contentHtml });
        return row;
      });
      return { said: `Saved: ${readersSee(call, report.id)}`, to: reportPath(params) };
    },
  },
  "entries/{report_entry}/delete": {
    verb: "deleteReportEntry",
    act(call) {
      const { tenant, params } = call;
      const { report_entry: id = "" } = params;
      const { row } = reportOf(tenant.store, params);
      getEntry(tenant.store, row, id);
      tenant.store.write((tx) => deleteEntry(tx, reportOf(tx, params).row, id));
      return {
        said: `The entry is gone: ${readersSee(call, row.id)}`,
        to: reportPath(params),
      };
    },
  },
};
