import type { EntryType } from "../../ground/store/columns.ts";

/** A report as the public sees it. Times are Unix seconds. */
export interface PublicReport {
  /** The last segment of the page's path. */
  uuid: string;
  title: string;
  /** Plain text. */
  description: string;
  createdAt: number;
  updatedAt: number;
  /** In any order. */
  entries: readonly PublicEntry[];
}

export interface PublicEntry {
  id: string;
  title: string;
  type: EntryType;
  /** Made by `renderMarkdown`, so it is safe. */
  contentHtml: string;
  createdAt: number;
}

/** The state of an incident: its newest entry's type, or "reported" before there is one. */
export type ReportStanding = EntryType | "reported";

export const TYPE_WORDS: Record<EntryType, string> = {
  update: "Update",
  analysis: "Analysis",
  resolution: "Resolution",
};

export const STANDING_WORDS: Record<ReportStanding, string> = {
  reported: "Reported",
  update: "Update",
  analysis: "Investigating",
  resolution: "Resolved",
};

/** The entries, newest first. Of two in the same second the later in the list is the newer. */
export function newestFirst<Entry extends { createdAt: number }>(
  entries: readonly Entry[],
): Entry[] {
  return [...entries].reverse().sort((a, b) => b.createdAt - a.createdAt);
}

export function standingOf(entries: readonly PublicEntry[]): ReportStanding {
  return newestFirst(entries)[0]?.type ?? "reported";
}

/** A report's title may be empty (contract §19), a page's heading may not. */
export function titleOf({ title }: { title: string }): string {
  return title.trim() === "" ? "Incident report" : title;
}

/** The JSON form of the public page (contract §8), entries newest first. */
export function publicBody(report: PublicReport) {
  return {
    title: report.title,
    description: report.description,
    entries: newestFirst(report.entries).map((entry) => ({
      title: entry.title,
      entry_type: entry.type,
      content_html: entry.contentHtml,
      created_at: entry.createdAt,
    })),
    updated_at: report.updatedAt,
  };
}
