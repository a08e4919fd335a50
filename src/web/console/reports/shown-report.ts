import { getProject, type Project } from "../../../core/projects/projects.ts";
import { sha256 } from "../../../ground/kit/ids.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { type EntryRow, entryRows } from "../../../records/reports/entries.ts";
import { getReport, type ReportRow } from "../../../records/reports/reports.ts";
import { type PageCall, pathOf } from "../screen.ts";

/** A report as its editor shows it: every part of the page draws from this one reading. */
export interface ShownReport {
  project: Project;
  row: ReportRow;
  /** Newest last. */
  entries: EntryRow[];
  /** Of its page, below the base. */
  path: string;
  /** The published entry that is edited; null: a new one is written. */
  edited: EntryRow | null;
  /** The one that was asked for isn't there any more. */
  isGone: boolean;
}

type Params = PageCall["params"];

/** The report of an address. Throws 404. */
export function reportOf(reader: Reader, { project: name = "", report = "" }: Params) {
  const project = getProject(reader, name);
  return { project, row: getReport(reader, project, report) };
}

export const reportPath = ({ project = "", report = "" }: Params): string =>
  pathOf("p", project, "reports", report);

/** Throws 404. */
export function readShownReport(call: PageCall): ShownReport {
  const { store } = call.tenant;
  const { project, row } = reportOf(store, call.params);
  const entries = entryRows(store, row.id);
  const asked = call.query.get("entry");
  const edited = entries.find(({ id }) => id === asked) ?? null;
  const isGone = asked !== null && edited === null;
  return { project, row, entries, path: reportPath(call.params), edited, isGone };
}

/** Changes with what an entry says. */
export const versionOf = ({ title, entryType, contentMd }: EntryRow): string =>
  sha256(JSON.stringify([title, entryType, contentMd])).slice(0, 16);
