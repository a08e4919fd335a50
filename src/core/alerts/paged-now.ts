import type { Reader } from "../../ground/store/store.ts";
import { createReachable } from "../../out/paging/reachable.ts";
import { getAlertRow } from "./alert.ts";
import { whyNotPaged } from "./reach-report.ts";
import { channelsOfProject } from "./reached.ts";

/** What became of a page that somebody has just asked for. */
interface PagedNow {
  /** It waits for what keeps the alert quiet, until then; null: it doesn't. */
  held: { until: number | null } | null;
  /** Whom a contact or a phone of theirs tells. */
  paged: readonly string[];
  /** Whom nothing of theirs reaches. */
  unreached: readonly string[];
  /** Whether a shared channel is told: that may be their way. */
  inChannels: boolean;
}

/** Of those that the alert pages now, right after it was done. Throws 404. */
export function pagedNow(reader: Reader, id: number): PagedNow {
  const row = getAlertRow(reader, id);
  const accounts = JSON.parse(row.page_accounts) as string[];
  const { project_id: projectId, level, silenced_by, held_until: until } = row;
  if (silenced_by !== null) return { held: { until }, paged: [], unreached: [], inChannels: false };
  const reachable = createReachable(reader);
  const isReached = (account: string) => reachable.reaches(account, { projectId, level });
  return {
    held: null,
    paged: accounts.filter(isReached),
    unreached: accounts.filter((account) => !isReached(account)),
    inChannels: channelsOfProject(reader, projectId).some(
      (channel) => whyNotPaged(channel, "alert.escalated") === null,
    ),
  };
}
