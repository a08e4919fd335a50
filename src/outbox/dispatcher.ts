import type { Log } from "../kit/log.ts";
import type { Store } from "../store/store.ts";
import { createLane, type Lane, laneRoom } from "./lane.ts";
import type { Attempted, Queue, QueuedRow } from "./queue.ts";

/** Sends what is due of one queue: fair over endpoints, in order for each alert, everything in flight only in memory. */
export interface Dispatcher {
  /** Looks at every endpoint that may have due rows; when it wants to look again (Unix ms; null = when told). */
  run(): number | null;
  /** Rows were committed for this endpoint, or it was enabled. */
  touch(endpoint: string): void;
  /** Waits for what is in flight, at most as long as an attempt may take, and writes it. */
  stop(): Promise<void>;
  readonly inFlight: number;
  /** Attempts finished, by whether they went well. */
  readonly counts: { well: number; failed: number };
}

export interface DispatcherOptions<Outcome> {
  store: Store;
  log: Log;
  queue: Queue<Outcome>;
  /** Most attempts under way at one time, over all endpoints. */
  sockets: number;
  /** Asks for another `run` soon. */
  wake(): void;
}

interface Result<Outcome> {
  lane: Lane;
  attempted: Attempted<Outcome>;
}

/** How long written results wait for others to share their transaction when the disk is full. */
const RETRY_RECORD_MS = 1000;

export function createDispatcher<Outcome>(options: DispatcherOptions<Outcome>): Dispatcher {
  const { store, queue, log } = options;
  const lanes = new Map<string, Lane>();
  const counts = { well: 0, failed: 0 };
  let results: Result<Outcome>[] = [];
  let recording = false;
  let inFlight = 0;
  let stopping: (() => void) | null = null;
  let started = false;

  const laneOf = (endpoint: string): Lane => {
    let lane = lanes.get(endpoint);
    if (lane === undefined) {
      lane = createLane(endpoint, queue.endpoint(store, endpoint)?.failures ?? 0);
      lanes.set(endpoint, lane);
    }
    return lane;
  };

  /** Starts what the endpoint has room for; the lane then knows when to be looked at again. */
  const pump = (lane: Lane) => {
    const nowMs = store.clock.now();
    const state = queue.endpoint(store, lane.endpoint);
    if (state === null || !state.enabled) {
      lane.nextAt = null;
      if (lane.inFlight.size === 0) lanes.delete(lane.endpoint);
      return;
    }
    const probe = queue.probes && lane.failures > 0;
    const room = Math.min(laneRoom(lane, queue.probes), options.sockets - inFlight);
    const waitForProbe = probe && lane.probeAt > store.clock.mono();
    if (room > 0 && !waitForProbe) {
      const rows = queue.due(store, lane.endpoint, {
        nowMs,
        limit: room + lane.inFlight.size,
        probe,
      });
      if ((rows[0]?.id ?? Number.POSITIVE_INFINITY) > lane.serialUntil) lane.serialUntil = 0;
      for (const row of rows.filter((each) => !lane.inFlight.has(each.id)).slice(0, room))
        start(lane, row);
    }
    lane.nextAt = waitForProbe
      ? nowMs + (lane.probeAt - store.clock.mono())
      : queue.nextDue(store, lane.endpoint, nowMs);
    if (lane.nextAt === null && lane.inFlight.size === 0) lanes.delete(lane.endpoint);
  };

  const start = (lane: Lane, row: QueuedRow) => {
    lane.inFlight.add(row.id);
    inFlight++;
    void queue.send(lane.endpoint, row).then((outcome) => {
      results.push({ lane, attempted: { row, outcome } });
      recordSoon();
    });
  };

  const recordSoon = () => {
    if (recording) return;
    recording = true;
    setImmediate(record);
  };

  /** Writes all results that came in since, in one transaction; then the lanes go on. */
  const record = () => {
    const batch = results;
    results = [];
    try {
      const recorded = store.write((tx) =>
        batch.map(({ lane, attempted }) => {
          const result = queue.record(tx, lane.endpoint, attempted);
          if (lane.recovers(result.well)) lane.serialUntil = queue.release(tx, lane.endpoint);
          return result;
        }),
      );
      recording = false;
      batch.forEach(({ lane, attempted }, i) => {
        const result = recorded[i];
        if (result === undefined) return;
        lane.finished(attempted.row.id, result.well, store.clock);
        counts[result.well ? "well" : "failed"]++;
        inFlight--;
      });
      for (const lane of new Set(batch.map(({ lane }) => lane))) pump(lane);
      options.wake();
      if (inFlight === 0) stopping?.();
    } catch (error) {
      // They stay in flight in memory: an attempt is not made twice because it could not be written down.
      log.error(
        { err: error, queue: queue.name, results: batch.length },
        "outcomes could not be written; trying again",
      );
      results = [...batch, ...results];
      store.clock.after(RETRY_RECORD_MS, record);
    }
  };

  return {
    run() {
      if (!started) {
        started = true;
        for (const endpoint of queue.endpoints(store)) laneOf(endpoint).nextAt = 0;
      }
      const nowMs = store.clock.now();
      if (stopping === null)
        for (const lane of [...lanes.values()])
          if (lane.nextAt !== null && lane.nextAt <= nowMs) pump(lane);
      const next = [...lanes.values()].flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]));
      return next.length === 0 ? null : Math.min(...next);
    },
    touch(endpoint) {
      laneOf(endpoint).nextAt = 0;
      options.wake();
    },
    stop() {
      return new Promise((resolve) => {
        stopping = resolve;
        if (inFlight === 0) resolve();
      });
    },
    get inFlight() {
      return inFlight;
    },
    counts,
  };
}
