import type { Tx } from "../../ground/store/store.ts";
import type { EventKind } from "./event.ts";

/** When a shared room is told together instead of one by one: whether a delivery is held (contract §26, rule 3). */

/** How long what is held waits for more. */
export const STORM_MS = 60_000;
const MINUTE_SECONDS = 60;

/** What is about to be enqueued for a room. */
interface Candidate {
  integrationId: string;
  /** Openings of a minute that are told one by one; 0: all are. null: no room. */
  threshold: number | null;
  projectId: number;
  alertId: number | null;
  event: EventKind;
}

const IS_ON = "SELECT 1 FROM storms WHERE integration_id = ? AND is_on = 1";
const OPENED = `SELECT opened_at FROM alerts WHERE project_id = ? AND drill = 0 ORDER BY id DESC LIMIT 1 OFFSET ?`;
const SENT = `SELECT created_at FROM deliveries INDEXED BY deliveries_integration
  WHERE integration_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?`;
const OWN = `SELECT max(status = 'pending' AND next_attempt_ms IS NULL) AS waits, max(told_by IS NOT NULL) AS told
  FROM deliveries INDEXED BY deliveries_alert WHERE alert_id = ? AND integration_id = ?`;
const BEGIN = `INSERT INTO storms (integration_id, is_on, tell_ms) VALUES (?, 1, ?)
  ON CONFLICT DO UPDATE SET tell_ms = iif(is_on = 1, tell_ms, excluded.tell_ms), is_on = 1`;

/**
 * Whether it is held, which begins a storm where there was none. Openings are, past the threshold and as long as the
 * storm lasts. What follows on an opening that is still held stays behind it; what follows on one that was told
 * with others is told with others where there is much of it, so that nobody is told of each one's end.
 */
export function isHeld(tx: Tx, candidate: Candidate): boolean {
  const { integrationId, threshold, projectId, alertId, event } = candidate;
  if (threshold === null || threshold === 0 || alertId === null) return false;
  if (event !== "alert.opened") {
    const own = ownRows(tx, alertId, integrationId);
    if (own.waits === 1) return true;
    if (own.told !== 1) return false;
  }
  const many = () =>
    event === "alert.opened"
      ? isRecent(tx, tx.sql<[number, number], number>(OPENED).pluck().get(projectId, threshold))
      : isRecent(tx, tx.sql<[string, number], number>(SENT).pluck().get(integrationId, threshold));
  const isOn = tx.sql<[id: string]>(IS_ON).get(integrationId) !== undefined;
  if (!isOn && !many()) return false;
  tx.sql<[id: string, tellMs: number]>(BEGIN).run(integrationId, tx.clock.now() + STORM_MS);
  tx.note({ topic: "storms" });
  return true;
}

function ownRows(tx: Tx, alertId: number, integrationId: string) {
  type Own = { waits: number | null; told: number | null };
  const none: Own = { waits: null, told: null };
  return tx.sql<[alert: number, integration: string], Own>(OWN).get(alertId, integrationId) ?? none;
}

/** A time ahead of the clock is one from before it was set back: it says nothing of this minute. */
function isRecent(tx: Tx, at: number | undefined): boolean {
  return at !== undefined && at > tx.at - MINUTE_SECONDS && at <= tx.at;
}
