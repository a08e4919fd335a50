import type { Source } from "../../core/projects/sources.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { notFound } from "../../ground/kit/errors.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "../ingest/event.ts";
import type { IngestHandle } from "../ingest/handle.ts";
import { createHeartbeatFeed } from "./adapter-feed.ts";
import { heartbeatEvent } from "./event.ts";
import {
  beatOf,
  clearOwed,
  dueHeartbeats,
  type HeartbeatRow,
  heartbeatRow,
  nextHeartbeat,
  type Owed,
  owedOf,
  paceOf,
  putOff,
  writeHeartbeatState,
} from "./rows.ts";
import { addRun, endRun, markOverrun, runningSince } from "./runs.ts";
import { createSharedCommits } from "./shared-commits.ts";
import { findHeartbeatSource, heartbeatSource, reportingSource } from "./source.ts";
import {
  goingOn,
  type HeartbeatReport,
  type HeartbeatState,
  heard,
  looked,
  type Step,
} from "./state.ts";

/** A job's report. */
interface Ping {
  word: HeartbeatReport;
  /** The id of the run, a UUID. */
  rid: string | null;
  /** The exit status, if it was sent. */
  exit: number | null;
  /** The text sent with the report; null: none. */
  message: string | null;
}

/** Receives reports of jobs, and passes changes to the rules. */
export type HeartbeatWatch = ReturnType<typeof createHeartbeatWatch>;

const AFTER_FAILURE = 5;
/** Seconds until a row that fails is tried again, for example one with a cron text that only another program reads. */
const BROKEN = 300;

/**
 * A change of state and the event that it owes the rules are written in one transaction. The event is submitted
 * afterwards, and owed until it is committed. A crash in between submits it again with the same name and instance,
 * which changes nothing (contract §22).
 */
export function createHeartbeatWatch(deps: {
  store: Store;
  ingest: Pick<IngestHandle, "submit" | "takers">;
  log: Log;
  tenantId: string;
}) {
  const { store, ingest, log, tenantId } = deps;
  const overheard = createHeartbeatFeed(store);
  const telling = new Map<string, Promise<void>>();

  const submit = (source: Source, events: IngestEvent[]) =>
    new Promise<void>((resolve, reject) => {
      ingest.submit(source, events, (error, answers) =>
        answers === null ? reject(error) : resolve(),
      );
    });
  const sourceOf = (projectId: number) =>
    findHeartbeatSource(store, projectId) ??
    store.write((tx) => heartbeatSource(tx, { id: projectId }, tenantId));

  /** If no rule matches the project's heartbeats, the source that the heartbeat accepts is used, whose rules do. */
  const submitFor = (row: HeartbeatRow, events: IngestEvent[]) => {
    const usual = sourceOf(row.project_id);
    const isHeard = events.some((event) => ingest.takers(usual, event).length > 0);
    return submit((isHeard ? null : reportingSource(store, row)) ?? usual, events);
  };

  const tellOwed = async (id: string): Promise<void> => {
    for (;;) {
      const row = heartbeatRow(store, id);
      const owed = row?.owed ?? null;
      if (row === null || owed === null) return;
      const events = owedOf(row).map((one) => heartbeatEvent(row, one));
      await submitFor(row, events);
      if (store.write((tx) => clearOwed(tx, id, owed))) return;
    }
  };

  /** One at a time for each heartbeat. After a failure it is soon due again. */
  const settleOwed = (id: string): Promise<void> => {
    const before = telling.get(id) ?? Promise.resolve();
    const run = before
      .then(() => tellOwed(id))
      .catch((error: unknown) => {
        log.warn({ err: error, heartbeat: id }, "a heartbeat's event could not be written yet");
        store.write((tx) => putOff(tx, id, AFTER_FAILURE));
      })
      .finally(() => {
        if (telling.get(id) === run) telling.delete(id);
      });
    telling.set(id, run);
    return run;
  };

  const take = (tx: Tx, row: HeartbeatRow, { beat, said }: Step, exit: number | null) => {
    const since = said?.reason === "overrun" ? row.run_at : row.last_at;
    const facts = { exit, duration: row.last_duration, at: tx.at, since };
    writeHeartbeatState(tx, row, beat, said === null ? null : { ...said, ...facts });
  };

  const lookAt = (tx: Tx, row: HeartbeatRow) => {
    try {
      const step = looked(beatOf(row), paceOf(row), tx.at);
      if (row.state !== "down" && step.beat.reason === "overrun") markOverrun(tx, row.id);
      if (row.state !== "down" && step.beat.reason === "missing")
        addRun(tx, { ...none, id: row.id, outcome: "missing", ended: tx.at });
      take(tx, row, step, row.exit_status);
    } catch (error) {
      log.error({ err: error, heartbeat: row.id }, "a heartbeat could not be looked at");
      putOff(tx, row.id, BROKEN);
    }
  };

  const takeWord = (tx: Tx, { id, ping }: Heard) => {
    const row = heartbeatRow(tx, id);
    if (row === null) throw notFound("heartbeat");
    const step = heard(beatOf(row), ping.word, paceOf(row), tx.at);
    const noted = noteRun(tx, row, ping);
    take(tx, noted, { ...step, beat: withOtherRun(tx, row, { ping, beat: step.beat }) }, ping.exit);
  };
  const commits = createSharedCommits(store, takeWord);

  /** Handles a job's report; resolves after everything that follows from it is committed. Throws 404. */
  const hear = async (id: string, ping: Ping) => {
    await commits.write({ id, ping });
    await settleOwed(id);
  };

  return {
    hear,
    /** Uses an adapter's committed events as pings of the heartbeats that watch for them. */
    async overhear(source: Source, events: readonly IngestEvent[]) {
      for (const id of overheard.fedBy(source, events))
        try {
          await hear(id, { word: "success", rid: null, exit: null, message: null });
        } catch (error) {
          // The events are committed: their sender must not repeat them because of this.
          log.warn({ err: error, heartbeat: id }, "a heartbeat could not be fed");
        }
    },
    /** Changes a heartbeat's state by `change`, and passes the result to the rules. `as`: the caller's store of the tenant. */
    async change(
      id: string,
      change: (tx: Tx, beat: HeartbeatState, row: HeartbeatRow) => Step,
      as: Store = store,
    ) {
      as.write((tx) => {
        const row = heartbeatRow(tx, id);
        if (row === null) throw notFound("heartbeat");
        take(tx, row, change(tx, beatOf(row), row), row.exit_status);
      });
      await settleOwed(id);
    },
    /** Checks the heartbeats that are due. Returns the next due time, Unix seconds. */
    async look(): Promise<number | null> {
      const due = dueHeartbeats(store, unixSeconds(store.clock));
      if (due.length > 0)
        store.write((tx) => {
          for (const row of dueHeartbeats(tx, tx.at)) if (row.owed === null) lookAt(tx, row);
        });
      await Promise.all(due.map(({ id }) => settleOwed(id)));
      return nextHeartbeat(store);
    },
    /** Passes an event of this heartbeat to the rules now. Throws where it can't be committed. */
    tell: (row: HeartbeatRow, owed: Owed) => submitFor(row, [heartbeatEvent(row, owed)]),
  };
}

interface Heard {
  id: string;
  ping: Ping;
}

const none = { rid: null, started: null, exit: null, late: 0 };

/** With overlapping runs a success ends only its own. */
function withOtherRun(
  tx: Tx,
  row: HeartbeatRow,
  { ping: { word, rid }, beat }: { ping: Ping; beat: HeartbeatState },
): HeartbeatState {
  if (word !== "success" || rid === null || row.run_at === null || beat.state !== "up") return beat;
  const since = runningSince(tx, row.id, row.run_at);
  return since === null ? beat : goingOn(beat, since, paceOf(row));
}

const SAID =
  "UPDATE heartbeats SET last_message = coalesce(?, last_message), last_duration = ?, exit_status = ? WHERE id = ?";

/** Writes a ping's effect on its run. Returns the new row. */
function noteRun(tx: Tx, row: HeartbeatRow, { word, rid, exit, message }: Ping): HeartbeatRow {
  const { id } = row;
  // For a job that is down, the missed run was already recorded.
  const late = row.state === "up" ? Math.max(0, tx.at - (row.expected_at ?? tx.at)) : 0;
  let { last_duration, exit_status } = row;
  if (word === "start")
    addRun(tx, { ...none, id, rid, late, outcome: "running", started: tx.at, ended: null });
  else if (word !== "log") {
    const outcome = word === "success" ? "ok" : "failed";
    last_duration = endRun(tx, { id, rid, outcome, exit, late });
    exit_status = exit;
  }
  tx.sql<(string | number | null)[]>(SAID).run(message, last_duration, exit_status, id);
  return { ...row, last_duration, exit_status };
}
