import type { Tx } from "../../ground/store/store.ts";
import { getAlertRow } from "./alert.ts";
import { happen } from "./life/happen.ts";

/** New trouble that was counted into an alert that somebody has: a key that it didn't hold. */
export interface FoldInput {
  /** What is new, in words. */
  what: string;
  /** It is worse than all that the alert held. */
  isWorse: boolean;
}

/** Whoever took it again is left in peace for so many seconds, unless what comes is worse. */
const REST_SECONDS = 300;

const LAST =
  "SELECT detail FROM timeline WHERE alert_id = ? AND kind = 'joined' ORDER BY id DESC LIMIT 1";

/**
 * An acknowledgement is for what was there: it ends now, as one that was given for a time. Of what goes on coming it ends
 * once in five minutes.
 */
export function foldIntoAcknowledged(tx: Tx, id: number, { what, isWorse }: FoldInput): void {
  const row = getAlertRow(tx, id);
  if (row.state !== "acknowledged") return;
  const last = tx.sql<[id: number], string>(LAST).pluck().get(id);
  const before = last === undefined ? 0 : (JSON.parse(last) as { opens_at: number }).opens_at;
  // Where the clock was set back since then nobody knows how long ago it was.
  const rested = before > tx.at + REST_SECONDS ? 0 : before + REST_SECONDS;
  const opensAt = isWorse ? tx.at : Math.max(tx.at, rested);
  happen(tx, row, { what: "joined", trouble: what, opensAt });
}

/**
 * Says again that an open alert is open, for a new burst of matches (contract §5, dedup_window_minutes).
 * `max_renotify` bounds the repeats of `renotify_minutes` and not these.
 */
export function renotifyBurst(tx: Tx, id: number): void {
  const row = getAlertRow(tx, id);
  if (row.state === "open") happen(tx, row, { what: "burst" });
}
