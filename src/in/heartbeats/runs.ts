import type { Reader, Tx } from "../../ground/store/store.ts";
import type { HeartbeatRun, RunOutcome } from "./heartbeat.ts";

/** Runs that are kept of each heartbeat. */
const KEPT = 100;

const ADD = `INSERT INTO heartbeat_runs (heartbeat_id, rid, outcome, started_at, ended_at, exit_status, late)
  VALUES (:id, :rid, :outcome, :started, :ended, :exit, :late)`;
const CUT = `DELETE FROM heartbeat_runs WHERE heartbeat_id = :id AND id <=
  (SELECT id FROM heartbeat_runs WHERE heartbeat_id = :id ORDER BY id DESC LIMIT 1 OFFSET ${KEPT})`;

interface NewRun {
  id: string;
  rid: string | null;
  outcome: RunOutcome;
  started: number | null;
  ended: number | null;
  exit: number | null;
  /** Seconds from the expected time to its first report. */
  late: number;
}

/** Adds a run, and deletes the oldest above the limit. */
export function addRun(tx: Tx, run: NewRun): void {
  tx.sql<[NewRun]>(ADD).run(run);
  tx.sql<[{ id: string }]>(CUT).run({ id: run.id });
}

const OPEN = `SELECT id, started_at FROM heartbeat_runs
  WHERE heartbeat_id = :id AND ended_at IS NULL AND started_at IS NOT NULL AND (:rid IS NULL OR rid IS NULL OR rid = :rid)
  ORDER BY rid IS :rid DESC, id DESC LIMIT 1`;
const END =
  "UPDATE heartbeat_runs SET outcome = ?, ended_at = ?, exit_status = ?, rid = coalesce(rid, ?) WHERE id = ?";

/** Ends the run that this report belongs to, or adds one without a start. Returns its seconds, where known. */
export function endRun(
  tx: Tx,
  end: { id: string; rid: string | null; outcome: RunOutcome; exit: number | null; late: number },
): number | null {
  const { id, rid, outcome, exit, late } = end;
  type Open = { id: number; started_at: number };
  const open = tx.sql<[{ id: string; rid: string | null }], Open>(OPEN).get({ id, rid });
  if (open === undefined) {
    addRun(tx, { id, rid, outcome, started: null, ended: tx.at, exit, late });
    return null;
  }
  tx.sql<(string | number | null)[]>(END).run(outcome, tx.at, exit, rid, open.id);
  return Math.max(0, tx.at - open.started_at);
}

const GOES_ON = `SELECT min(started_at) FROM heartbeat_runs
  WHERE heartbeat_id = ? AND outcome = 'running' AND rid IS NOT NULL AND started_at >= ?`;

/** The start of the first unfinished run with an id, of those that began at `since` or later; null for none. */
export function runningSince(tx: Tx, id: string, since: number): number | null {
  return tx.sql<[string, number], number | null>(GOES_ON).pluck().get(id, since) ?? null;
}

const MARK = `UPDATE heartbeat_runs SET outcome = 'overrun'
  WHERE heartbeat_id = ? AND outcome = 'running'`;

/** Marks unfinished runs as too long; they may still end. */
export function markOverrun(tx: Tx, id: string): void {
  tx.sql<[id: string]>(MARK).run(id);
}

/** Shifts unfinished runs after the clock jumped. */
export function shiftRuns(tx: Tx, seconds: number): void {
  tx.sql<[number]>(
    "UPDATE heartbeat_runs SET started_at = started_at + ? WHERE ended_at IS NULL AND started_at IS NOT NULL",
  ).run(seconds);
}

const LIST = `SELECT outcome, started_at, ended_at, ended_at - started_at AS duration, exit_status, rid, late AS late_seconds
  FROM heartbeat_runs WHERE heartbeat_id = ? ORDER BY id DESC LIMIT ?`;

/** Latest first. */
export function listRuns(reader: Reader, id: string, limit: number): HeartbeatRun[] {
  return reader.sql<[id: string, limit: number], HeartbeatRun>(LIST).all(id, limit);
}
