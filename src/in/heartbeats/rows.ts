import type { Reader, Tx } from "../../ground/store/store.ts";
import type { HeartbeatPace, HeartbeatSignal, HeartbeatState } from "./state.ts";

export interface HeartbeatRow {
  id: string;
  project_id: number;
  name: string;
  slug: string;
  period_seconds: number | null;
  cron: string | null;
  timezone: string;
  grace_seconds: number;
  max_run_seconds: number | null;
  level: number;
  state: HeartbeatState["state"];
  last_at: number | null;
  last_duration: number | null;
  last_message: string | null;
  run_at: number | null;
  expected_at: number | null;
  deadline_at: number | null;
  reason: HeartbeatState["reason"];
  instance: string | null;
  exit_status: number | null;
  /** JSON of `Owed[]`: events that aren't committed yet. */
  owed: string | null;
  /** JSON of `Watched`. */
  watch: string | null;
  created_at: number;
}

/** A change that rules have not seen yet, with the facts of its time. */
export type Owed = HeartbeatSignal & {
  exit: number | null;
  duration: number | null;
  at: number;
  /** Its last report, or the start of the run that is too long. */
  since: number | null;
};

const COLUMNS = `id, project_id, name, slug, period_seconds, cron, timezone, grace_seconds, max_run_seconds, level, state,
  last_at, last_duration, last_message, run_at, expected_at, deadline_at, reason, instance, exit_status, owed, watch, created_at`;

export function heartbeatRow(reader: Reader, id: string): HeartbeatRow | null {
  const text = `SELECT ${COLUMNS} FROM heartbeats WHERE id = ?`;
  return reader.sql<[id: string], HeartbeatRow>(text).get(id) ?? null;
}

/** By name. */
export function projectHeartbeats(reader: Reader, projectId: number): HeartbeatRow[] {
  const text = `SELECT ${COLUMNS} FROM heartbeats WHERE project_id = ? ORDER BY name`;
  return reader.sql<[projectId: number], HeartbeatRow>(text).all(projectId);
}

/** Heartbeats that wait for a time, are running, or owe the rules something. */
export function timedHeartbeats(reader: Reader): HeartbeatRow[] {
  return reader
    .sql<[], HeartbeatRow>(`SELECT ${COLUMNS} FROM heartbeats WHERE due_at IS NOT NULL`)
    .all();
}

/** Heartbeats checked in one transaction. */
const MOST_DUE = 200;

/** Heartbeats that are due, the longest waiting first, as many as one transaction checks. */
export function dueHeartbeats(reader: Reader, at: number): HeartbeatRow[] {
  const text = `SELECT ${COLUMNS} FROM heartbeats WHERE due_at <= ? ORDER BY due_at LIMIT ${MOST_DUE}`;
  return reader.sql<[at: number], HeartbeatRow>(text).all(at);
}

/** The earliest due time, Unix seconds. */
export function nextHeartbeat(reader: Reader): number | null {
  const text = "SELECT min(due_at) FROM heartbeats WHERE due_at IS NOT NULL";
  return reader.sql<[], number | null>(text).pluck().get() ?? null;
}

const RENAME = `UPDATE heartbeats SET watch = json_set(watch, '$.source', @to)
  WHERE project_id = @projectId AND watch IS NOT NULL AND json_extract(watch, '$.source') = @from`;

/** Replaces a source's old name in the heartbeats that name it. */
export function renameSourceInHeartbeats(
  tx: Tx,
  of: { projectId: number; from: string; to: string },
): void {
  tx.sql<[typeof of]>(RENAME).run(of);
}

export function beatOf(row: HeartbeatRow): HeartbeatState {
  return {
    state: row.state,
    lastAt: row.last_at,
    runAt: row.run_at,
    expectedAt: row.expected_at,
    deadlineAt: row.deadline_at,
    reason: row.reason,
    instance: row.instance,
  };
}

export function paceOf(row: HeartbeatRow): HeartbeatPace {
  const { period_seconds: period, cron, timezone, grace_seconds: grace } = row;
  return { period, cron, timezone, grace, maxRun: row.max_run_seconds ?? grace };
}

export function owedOf(row: HeartbeatRow): Owed[] {
  return row.owed === null ? [] : (JSON.parse(row.owed) as Owed[]);
}

const WRITE = `UPDATE heartbeats SET state = @state, last_at = @lastAt, run_at = @runAt, expected_at = @expectedAt,
    deadline_at = @deadlineAt, reason = @reason, instance = @instance, owed = @owed, due_at = @due
  WHERE id = @id`;
/** More than ever wait: above it the oldest are dropped. */
const MOST_OWED = 8;

/** Writes the state, and adds to `owed`. A heartbeat with `owed` is due at once, whatever the clock is set to. */
export function writeHeartbeatState(
  tx: Tx,
  row: HeartbeatRow,
  beat: HeartbeatState,
  owed: Owed | null,
): void {
  const all = [...owedOf(row), ...(owed === null ? [] : [owed])].slice(-MOST_OWED);
  const due = all.length > 0 ? 0 : beat.deadlineAt;
  const text = all.length > 0 ? JSON.stringify(all) : null;
  tx.sql<[object]>(WRITE).run({ ...beat, owed: text, due, id: row.id });
  if (due !== null) tx.note({ topic: "heartbeats" });
}

const TOLD = "UPDATE heartbeats SET owed = NULL, due_at = deadline_at WHERE id = ? AND owed = ?";

/** Clears `owed` after the rules have seen all of it; false where more was added meanwhile. */
export function clearOwed(tx: Tx, id: string, owed: string): boolean {
  tx.note({ topic: "heartbeats" });
  return tx.sql<[id: string, owed: string]>(TOLD).run(id, owed).changes === 1;
}

/** Makes it due later. */
export function putOff(tx: Tx, id: string, seconds: number): void {
  tx.sql<[due: number, id: string]>("UPDATE heartbeats SET due_at = ? WHERE id = ?").run(
    tx.at + seconds,
    id,
  );
}
