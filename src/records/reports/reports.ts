import { and, desc, eq, sql } from "drizzle-orm";
import { notFound } from "../../ground/kit/errors.ts";
import { hexId, uuid4 } from "../../ground/kit/ids.ts";
import type { EntryType } from "../../ground/store/columns.ts";
import { reports } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { ReportStanding } from "./report.ts";
import type { ReportAnswer } from "./written.ts";

/** The project of the reports. */
interface ReportProject {
  id: number;
  name: string;
}

export type ReportRow = typeof reports.$inferSelect;

export function toReport(row: ReportRow, project: ReportProject): ReportAnswer {
  return {
    id: row.id,
    project: project.name,
    title: row.title,
    description: row.description,
    alert_id: row.alertId === null ? "" : String(row.alertId),
    password_protected: row.passwordHash !== null,
    public_uuid: row.publicUuid,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    created_by: row.createdBy,
  };
}

/** The project's reports, newest first. */
export function listReports(reader: Reader, project: ReportProject): ReportAnswer[] {
  return reader.orm
    .select()
    .from(reports)
    .where(eq(reports.projectId, project.id))
    .orderBy(desc(reports.createdAt), desc(reports.id))
    .all()
    .map((row) => toReport(row, project));
}

/** A report in a list for people. */
export interface ReportLine {
  row: ReportRow;
  standing: ReportStanding;
  /** Unix seconds of its newest entry; null before the first. */
  newestAt: number | null;
}

// With its table's name: in a query on one table Drizzle leaves it out.
const newest = (column: "entry_type" | "created_at") =>
  sql.raw(`(SELECT e.${column} FROM report_entries e WHERE e.report_id = reports.id
    ORDER BY e.created_at DESC, e.seq DESC LIMIT 1)`);

/** The newest `most` reports of a project, newest first. */
export function reportLines(reader: Reader, project: ReportProject, most: number): ReportLine[] {
  return reader.orm
    .select({
      row: reports,
      standing: sql<EntryType | null>`${newest("entry_type")}`,
      newestAt: sql<number | null>`${newest("created_at")}`,
    })
    .from(reports)
    .where(eq(reports.projectId, project.id))
    .orderBy(desc(reports.createdAt), desc(reports.id))
    .limit(most)
    .all()
    .map(({ standing, ...line }) => ({ ...line, standing: standing ?? "reported" }));
}

/** The id of the newest report of a project about this alert; null where there is none. */
export function reportOfAlert(reader: Reader, projectId: number, alertId: number): string | null {
  const row = reader.orm
    .select({ id: reports.id })
    .from(reports)
    .where(and(eq(reports.projectId, projectId), eq(reports.alertId, alertId)))
    .orderBy(desc(reports.createdAt))
    .limit(1)
    .get();
  return row?.id ?? null;
}

/** Throws 404, also for another project's report. */
export function getReport(reader: Reader, project: ReportProject, id: string): ReportRow {
  const row = reader.orm
    .select()
    .from(reports)
    .where(and(eq(reports.id, id), eq(reports.projectId, project.id)))
    .get();
  if (row === undefined) throw notFound("report");
  return row;
}

interface NewReport {
  title: string;
  description: string;
  /** The alert that it is about; null for none. */
  alertId: number | null;
  /** A PHC string; null for a report without a password. */
  passwordHash: string | null;
  /** The account that makes it. */
  createdBy: string;
}

export function createReport(tx: Tx, project: ReportProject, report: NewReport) {
  const { title, description, passwordHash, createdBy } = report;
  const id = hexId(tx.random);
  const publicUuid = uuid4(tx.random);
  tx.orm
    .insert(reports)
    .values({
      id,
      title,
      description,
      passwordHash,
      publicUuid,
      createdBy,
      projectId: project.id,
      alertId: report.alertId,
      passwordVersion: passwordHash === null ? 0 : 1,
      createdAt: tx.at,
      updatedAt: tx.at,
    })
    .run();
  tx.note({ topic: "reports" });
  return { id, public_uuid: publicUuid };
}

/** What a PUT does to the password (contract §15, Reports). It is hashed before the transaction. */
export type PasswordChange = "keep" | "clear" | { hash: string };

/** Reads `view_password` of a body. Missing: kept. Empty: cleared. Other text: set. */
export async function passwordChange(
  passwords: { hash(text: string): Promise<string> },
  given: string | undefined,
): Promise<PasswordChange> {
  if (given === undefined) return "keep";
  return given === "" ? "clear" : { hash: await passwords.hash(given) };
}

interface ReportChange {
  title: string;
  /** Kept where it is missing. */
  description: string | undefined;
  password: PasswordChange;
}

/** Throws 404. `updated_at` is the time of the last change that readers see, so a new password doesn't change it. */
export function updateReport(
  tx: Tx,
  { project, id }: { project: ReportProject; id: string },
  change: ReportChange,
): void {
  const row = getReport(tx, project, id);
  const { title, description = row.description } = change;
  const isNews = title !== row.title || description !== row.description;
  tx.orm
    .update(reports)
    .set({
      title,
      description,
      ...(isNews ? { updatedAt: tx.at } : {}),
      ...passwordColumns(row, change.password),
    })
    .where(eq(reports.id, row.id))
    .run();
}

function passwordColumns(row: ReportRow, change: PasswordChange): Partial<ReportRow> {
  if (change === "keep" || (change === "clear" && row.passwordHash === null)) return {};
  const passwordHash = change === "clear" ? null : change.hash;
  return { passwordHash, passwordVersion: row.passwordVersion + 1 };
}

/** Gives the report a new public address. The old one stops working. Throws 404. */
export function rotateUuid(tx: Tx, project: ReportProject, id: string): { public_uuid: string } {
  const row = getReport(tx, project, id);
  const publicUuid = uuid4(tx.random);
  tx.orm.update(reports).set({ publicUuid }).where(eq(reports.id, row.id)).run();
  tx.note({ topic: "reports" });
  return { public_uuid: publicUuid };
}

/** Deletes the report and its entries. Throws 404. */
export function deleteReport(tx: Tx, project: ReportProject, id: string): void {
  const row = getReport(tx, project, id);
  tx.orm.delete(reports).where(eq(reports.id, row.id)).run();
}
