import { sleep } from "../../ground/kit/clock.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Store } from "../../ground/store/store.ts";
import { attemptOver, createLane, forgiven, type Lane, laneCapacity } from "./lane.ts";
import type { Queue, QueuedRow } from "./queue.ts";
import { createRecording, type Result, type Written } from "./recording.ts";

/** Sends what is due of one queue: fair over endpoints, in order for each alert, everything in flight only in memory. */
export interface Dispatcher {
  /** Looks at every endpoint that may have due rows; when it wants to look again (Unix ms; null = when told). */
  run(): number | null;
  /** Rows were committed for this endpoint, or it was enabled. */
  touch(endpoint: string): void;
  /** The endpoint is known to be well again: its backlog drains in order, without a probe. */
  revive(endpoint: string): void;
  /** Every due time may have moved. */
  touchAll(): void;
  /** Starts nothing more and waits for what is in flight, at most `graceMs`; what ends later stays pending. */
  stop(graceMs: number): Promise<void>;
  readonly inFlight: number;
  /** Attempts finished, by whether they went well. */
  readonly counts: { well: number; failed: number };
  /** Monotonic time of the latest attempt that was written, or of the start. */
  readonly movedAt: number;
}

interface DispatcherOptions<Outcome, Target, Row extends QueuedRow> {
  store: Store;
  log: Log;
  queue: Queue<Outcome, Target, Row>;
  /** Most attempts under way at one time, over all endpoints. */
  sockets: number;
  /** Asks for another `run` soon. */
  wake(): void;
}

/** When to look again at an endpoint whose rows could not even be read. */
const AFTER_FAULT_MS = 5000;

export function createDispatcher<Outcome, Target, Row extends QueuedRow>(
  options: DispatcherOptions<Outcome, Target, Row>,
): Dispatcher {
  const { store, queue, log, sockets } = options;
  const { clock } = store;
  const lanes = new Map<string, Lane>();
  /** Lanes to look at, in the order they asked: whoever found no socket stays in it. */
  const turn = new Set<Lane>();
  /** Endpoints with news since the last look. */
  const touched = new Set<string>();
  const counts = { well: 0, failed: 0 };
  let inFlight = 0;
  let started = false;
  let state: "running" | "stopping" | "closed" = "running";
  let drained = () => {};
  let movedAt = clock.mono();

  const laneOf = (endpoint: string): Lane => {
    let lane = lanes.get(endpoint);
    if (lane === undefined) {
      lane = createLane(endpoint, queue.endpoint(store, endpoint)?.failures ?? 0);
      lanes.set(endpoint, lane);
    }
    return lane;
  };

  /** Half of the sockets are kept for first attempts, so that wide or stuck endpoints can't take all. */
  const socketsFor = (lane: Lane): number => {
    const common = Math.max(0, Math.floor(sockets / 2) - inFlight);
    const own = lane.inFlight.size === 0 && inFlight < sockets ? 1 : 0;
    return Math.max(common, own);
  };

  const forget = (lane: Lane) => {
    lane.nextAt = null;
    lane.serialUntil = null;
    if (lane.inFlight.size === 0) lanes.delete(lane.endpoint);
  };

  /** Whether what piled up is gone, so that the endpoint may have more than one row under way again. */
  const isDrained = ({ endpoint, serialUntil }: Lane, rows: readonly Row[], nowMs: number) => {
    const rowId = serialUntil ?? 0;
    if (rows.length === 0 || rows.some(({ id }) => id <= rowId)) return false;
    return queue.isDrained(store, endpoint, { rowId, nowMs });
  };

  /** Starts what the endpoint has room for; false when it needs a socket and there is none. */
  const pump = (lane: Lane): boolean => {
    const endpoint = queue.endpoint(store, lane.endpoint);
    if (endpoint === null || !endpoint.enabled) {
      forget(lane);
      return true;
    }
    const nowMs = clock.now();
    lane.serialUntil ??= queue.backlog(store, lane.endpoint, nowMs);
    const probe = queue.probes && lane.failures > 0;
    if (probe && lane.probeAt > clock.mono()) {
      lane.nextAt = nowMs + (lane.probeAt - clock.mono());
      return true;
    }
    const free = laneCapacity(lane, queue.probes);
    const room = Math.min(free, socketsFor(lane));
    if (free === 0) return true;
    if (room === 0) return false;
    const { inFlight: flying, turns } = lane;
    const look = { nowMs, limit: room, probe, inFlight: flying, turns };
    const rows = queue.due(store, lane.endpoint, look);
    if (lane.serialUntil > 0 && flying.size === 0 && isDrained(lane, rows, nowMs))
      lane.serialUntil = 0;
    for (const row of rows) start(lane, endpoint.target, row);
    if (rows.length >= room) return room === free;
    // Everything due is under way, or waits behind an earlier row of its alert.
    lane.nextAt = queue.nextDue(store, lane.endpoint, nowMs);
    if (lane.nextAt === null && lane.inFlight.size === 0) lanes.delete(lane.endpoint);
    return true;
  };

  /** Whoever is in turn needs no time to be looked at again. */
  const ask = (lane: Lane) => {
    turn.add(lane);
    lane.nextAt = null;
  };

  const serve = () => {
    for (const lane of [...turn]) {
      if (state !== "running" || inFlight >= sockets) return;
      turn.delete(lane);
      try {
        if (!pump(lane)) turn.add(lane);
      } catch (error) {
        // One endpoint's rows that can't be read must not keep the others from being sent.
        lane.nextAt = clock.now() + AFTER_FAULT_MS;
        log.error(
          { err: error, queue: queue.name, endpoint: lane.endpoint },
          "due rows unreadable",
        );
      }
    }
  };

  const start = (lane: Lane, target: Target, row: Row) => {
    lane.inFlight.add(row.id);
    inFlight++;
    void attempt(lane, target, row);
  };

  const attempt = async (lane: Lane, target: Target, row: Row) => {
    let outcome: Outcome;
    try {
      outcome = await queue.send(target, row);
    } catch (error) {
      log.error({ err: error, queue: queue.name, row: row.id }, "a row could not be sent");
      outcome = queue.broken(row);
    }
    if (state === "closed") return;
    recording.add({ lane, attempted: { row, outcome }, tries: 0 });
  };

  /**
   * Where all went well, the next rows are on their way while these are written. The rows behind them of
   * the same alert still wait for the writing.
   */
  const goAhead = (results: readonly Result<Outcome>[]) => {
    const failing = new Set<Lane>();
    for (const { lane, attempted, tries } of results) {
      const isWell = tries === 0 && lane.failures === 0 && queue.isWell(attempted.outcome);
      if (isWell && !lane.serialUntil) lane.unwritten++;
      else failing.add(lane);
    }
    for (const { lane } of results)
      if (failing.has(lane)) lane.unwritten = 0;
      else turn.add(lane);
    const before = inFlight;
    serve();
    return inFlight > before;
  };

  const over = ({ lane, attempted }: Result<Outcome>, written: Written) => {
    attemptOver(lane, attempted.row.id, written, clock);
    if (written.releasedTo !== null) lane.serialUntil = written.releasedTo;
    if (written.well !== null) counts[written.well ? "well" : "failed"]++;
    inFlight--;
    ask(lane);
  };

  const recording = createRecording({
    store,
    log,
    queue,
    inFlight: () => inFlight,
    onGathered: goAhead,
    onWritten(batch) {
      for (const { result, written } of batch) over(result, written);
      movedAt = clock.mono();
      serve();
      options.wake();
      if (inFlight === 0) drained();
    },
  });

  return {
    run() {
      if (!started) for (const endpoint of queue.endpoints(store)) touched.add(endpoint);
      started = true;
      for (const endpoint of touched) {
        const lane = laneOf(endpoint);
        lane.nextAt = 0;
        lane.turns.flows = null;
        touched.delete(endpoint);
      }
      const nowMs = clock.now();
      for (const lane of lanes.values())
        if (lane.nextAt !== null && lane.nextAt <= nowMs) ask(lane);
      serve();
      const next = [...lanes.values()].flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]));
      return next.length === 0 ? null : Math.min(...next);
    },
    touch: (endpoint) => void touched.add(endpoint),
    revive(endpoint) {
      forgiven(laneOf(endpoint));
      touched.add(endpoint);
    },
    touchAll() {
      for (const lane of lanes.values()) lane.nextAt = 0;
    },
    async stop(graceMs) {
      state = "stopping";
      if (inFlight > 0) {
        const over = new AbortController();
        const empty = new Promise<void>((resolve) => {
          drained = resolve;
        });
        await Promise.race([empty, sleep(clock, graceMs, over.signal)]);
        over.abort();
      }
      state = "closed";
      recording.close();
    },
    get inFlight() {
      return inFlight;
    },
    counts,
    get movedAt() {
      return movedAt;
    },
  };
}
