import { eq } from "drizzle-orm";
import { sha256 } from "../../ground/kit/ids.ts";
import { reports } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { Gate } from "./cookie.ts";
import { entryRows } from "./entries.ts";
import type { PublicReport } from "./report.ts";
import type { ReportRow } from "./reports.ts";

/** The form of a public address. No other text is looked up. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The report at a public address; null where there is none. */
export function findPublicReport(reader: Reader, uuid: string): ReportRow | null {
  if (!UUID.test(uuid)) return null;
  return reader.orm.select().from(reports).where(eq(reports.publicUuid, uuid)).get() ?? null;
}

/** The report as readers see it. */
export function publicReport(reader: Reader, row: ReportRow): PublicReport {
  return {
    uuid: row.publicUuid,
    title: row.title,
    description: row.description,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    entries: entryRows(reader, row.id).map((entry) => ({
      id: entry.id,
      title: entry.title,
      type: entry.entryType,
      contentHtml: entry.contentHtml,
      createdAt: entry.createdAt,
    })),
  };
}

/** The values that a cookie for the report depends on; null for a report without a password. */
export function gateOf({ id, publicUuid, passwordHash, passwordVersion }: ReportRow): Gate | null {
  if (passwordHash === null) return null;
  return {
    reportId: id,
    uuid: publicUuid,
    // A restore can repeat a version number, but not a salted hash.
    passwordVersion: `${passwordVersion}.${sha256(passwordHash)}`,
  };
}
