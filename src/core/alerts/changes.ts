import { cut } from "../../ground/kit/text.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** Something that was changed in what a project watches, as a sender told it. */
interface RecentChange {
  at: number;
  /** The source's name. */
  source: string;
  message: string;
  href: string | null;
}

/** An alert that opens within so many seconds of a change may well come of it. */
const RECENT_SECONDS = 3600;
/** Changes of a project that are kept, how many an alert is told, and their characters. */
const MOST_KEPT = 50;
const MOST_TOLD = 5;
const MOST_CHARS = 500;

const ADD = "INSERT INTO changes (project_id, at, source, message, href) VALUES (?, ?, ?, ?, ?)";
const PRUNE = `DELETE FROM changes WHERE project_id = :project AND (at <= :before OR id <=
  (SELECT id FROM changes WHERE project_id = :project ORDER BY id DESC LIMIT 1 OFFSET ${MOST_KEPT}))`;
const RECENT = `SELECT at, source, message, href FROM changes WHERE project_id = ? AND at > ?
  ORDER BY id DESC LIMIT ${MOST_TOLD}`;

export function noteChange(
  tx: Tx,
  projectId: number,
  { source, message, href }: Omit<RecentChange, "at">,
): void {
  tx.sql<[number, number, string, string, string | null]>(ADD).run(
    projectId,
    tx.at,
    source,
    cut(message, MOST_CHARS),
    href,
  );
  tx.sql<[{ project: number; before: number }]>(PRUNE).run({
    project: projectId,
    before: tx.at - RECENT_SECONDS,
  });
}

/** The project's latest changes within the hour before `at`, the newest first. */
export function recentChanges(reader: Reader, projectId: number, at: number): RecentChange[] {
  return reader.sql<[number, number], RecentChange>(RECENT).all(projectId, at - RECENT_SECONDS);
}
