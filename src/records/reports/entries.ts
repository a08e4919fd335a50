import { and, asc, count, eq, sql } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { EntryType } from "../../ground/store/columns.ts";
import { reportEntries, reports } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { ReportRow } from "./reports.ts";
import type { EntryAnswer } from "./written.ts";

export type EntryRow = typeof reportEntries.$inferSelect;

/** A reader gets the whole report, and anyone with the address can be a reader, so its size has limits. */
const MOST_ENTRIES = 1000;
/** Characters of HTML. */
const MOST_HTML = 16 * 1024 * 1024;

export function toEntry(row: EntryRow): EntryAnswer {
  return {
    id: row.id,
    report_id: row.reportId,
    title: row.title,
    entry_type: row.entryType,
    content_md: row.contentMd,
    content_html: row.contentHtml,
    created_at: row.createdAt,
    created_by: row.createdBy,
  };
}

/** A report's entries, newest last (contract §15, Reports). */
export function entryRows(reader: Reader, reportId: string): EntryRow[] {
  return reader.orm
    .select()
    .from(reportEntries)
    .where(eq(reportEntries.reportId, reportId))
    .orderBy(asc(reportEntries.seq))
    .all();
}

/** Throws 404, also for another report's entry. */
export function getEntry(reader: Reader, report: ReportRow, id: string): EntryRow {
  const row = reader.orm
    .select()
    .from(reportEntries)
    .where(and(eq(reportEntries.id, id), eq(reportEntries.reportId, report.id)))
    .get();
  if (row === undefined) throw notFound("entry");
  return row;
}

/** The content of an entry. The HTML is `contentMd`, rendered before the transaction. */
interface EntryContent {
  contentMd: string;
  contentHtml: string;
}

/** Throws 400 content_too_complex where the report would become too large. */
export function addEntry(
  tx: Tx,
  report: ReportRow,
  entry: EntryContent & { title: string; entryType: EntryType; createdBy: string },
): { id: string } {
  const id = hexId(tx.random);
  tx.orm
    .insert(reportEntries)
    .values({ ...entry, id, reportId: report.id, createdAt: tx.at })
    .run();
  mustBeBounded(tx, report.id);
  isNews(tx, report.id);
  return { id };
}

/** Title and type are kept where they are missing. Throws 404, and 400 as `addEntry` does. */
export function updateEntry(
  tx: Tx,
  { report, id }: { report: ReportRow; id: string },
  change: EntryContent & { title?: string | undefined; entryType?: EntryType | undefined },
): void {
  const row = getEntry(tx, report, id);
  const { contentMd, contentHtml, title = row.title, entryType = row.entryType } = change;
  const isSame =
    contentMd === row.contentMd &&
    contentHtml === row.contentHtml &&
    title === row.title &&
    entryType === row.entryType;
  if (isSame) return;
  tx.orm
    .update(reportEntries)
    .set({ contentMd, contentHtml, title, entryType })
    .where(eq(reportEntries.seq, row.seq))
    .run();
  mustBeBounded(tx, report.id);
  isNews(tx, report.id);
}

/** Throws 404. */
export function deleteEntry(tx: Tx, report: ReportRow, id: string): void {
  const row = getEntry(tx, report, id);
  tx.orm.delete(reportEntries).where(eq(reportEntries.seq, row.seq)).run();
  isNews(tx, report.id);
}

function mustBeBounded(reader: Reader, reportId: string): void {
  const held = reader.orm
    .select({ n: count(), html: sql<number>`sum(length(${reportEntries.contentHtml}))` })
    .from(reportEntries)
    .where(eq(reportEntries.reportId, reportId))
    .get();
  if (held === undefined || (held.n <= MOST_ENTRIES && held.html <= MOST_HTML)) return;
  const message = `A report holds at most ${MOST_ENTRIES} entries and ${MOST_HTML} characters of HTML: go on in another one.`;
  throw new ServiceError("content_too_complex", message);
}

/** Records the time of the change, which the page shows. */
function isNews(tx: Tx, reportId: string): void {
  tx.orm.update(reports).set({ updatedAt: tx.at }).where(eq(reports.id, reportId)).run();
}
