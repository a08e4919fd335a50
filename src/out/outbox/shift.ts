import type { Tx } from "../../ground/store/store.ts";

const DELIVERIES = `UPDATE deliveries SET next_attempt_ms = next_attempt_ms + ?, created_at = created_at + ?
  WHERE status = 'pending'`;
const EXECUTIONS = `UPDATE executions SET next_attempt_ms = next_attempt_ms + ?, created_at = created_at + ?
  WHERE status = 'pending'`;
const STORMS = "UPDATE storms SET tell_ms = tell_ms + ?";
const STREAKS = `UPDATE integrations SET failing_since = failing_since + ? WHERE failing_since IS NOT NULL`;

/**
 * Moves what waits to go out by a jump of the clock (milliseconds, either way): its next attempt, its age, and
 * how long an endpoint has been failing, so that nothing is sent early, given up or broken off by the jump.
 */
export function shiftOutbox(tx: Tx, ms: number): void {
  const seconds = Math.round(ms / 1000);
  tx.sql<[number, number]>(DELIVERIES).run(Math.round(ms), seconds);
  tx.sql<[number, number]>(EXECUTIONS).run(Math.round(ms), seconds);
  tx.sql<[ms: number]>(STORMS).run(Math.round(ms));
  tx.sql<[seconds: number]>(STREAKS).run(seconds);
  tx.note({ topic: "outbox" });
}

const WAITED = [
  "UPDATE deliveries SET created_at = min(created_at + ?, ?) WHERE status = 'pending'",
  "UPDATE executions SET created_at = min(created_at + ?, ?) WHERE status = 'pending'",
];

/**
 * Takes the seconds before this start out of the age of what waits to go out, and of how long an endpoint
 * has been failing: nothing could be tried in them, or the clock only says that they passed. When it is
 * tried next stays, which is now for nearly all of it.
 */
export function forgiveDowntime(tx: Tx, seconds: number): void {
  for (const text of WAITED) tx.sql<[seconds: number, most: number]>(text).run(seconds, tx.at);
  tx.sql<[seconds: number]>(STREAKS).run(seconds);
}
