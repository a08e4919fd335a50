import { ServiceError } from "../../ground/kit/errors.ts";
import type { Log } from "../../ground/kit/log.ts";
import { turns } from "../../ground/kit/turns.ts";
import type { Store } from "../../ground/store/store.ts";
import { type Lane, recovers } from "./lane.ts";
import type { Attempted, Queue, QueuedRow, Recorded } from "./queue.ts";

/** An attempt that has ended, and isn't written yet. */
export interface Result<Outcome> {
  lane: Lane;
  attempted: Attempted<Outcome>;
  /** How often writing it has failed. */
  tries: number;
}

export interface Written extends Recorded {
  /** The last row of the backlog that became due; null where none did. */
  releasedTo: number | null;
}

/** Writes down what attempts came to, together where they end together. */
export interface Recording<Outcome> {
  add(result: Result<Outcome>): void;
  /** Begins no further batch. */
  close(): void;
}

interface RecordingOptions<Outcome, Target, Row extends QueuedRow> {
  store: Store;
  log: Log;
  queue: Queue<Outcome, Target, Row>;
  /** Attempts that have ended or are under way: no more results than these can come. */
  inFlight(): number;
  /** These are about to be written. Returns whether others were sent because of them. */
  onGathered(results: readonly Result<Outcome>[]): boolean;
  /** These are committed. */
  onWritten(batch: readonly { result: Result<Outcome>; written: Written }[]): void;
}

/** How long until results that could not be written are tried again: the disk may have room by then. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** Turns of the event loop that results are waited for: while none comes, and at the most. */
const FEWEST_TURNS = 4;
const MOST_TURNS = 32;

export function createRecording<Outcome, Target, Row extends QueuedRow>(
  options: RecordingOptions<Outcome, Target, Row>,
): Recording<Outcome> {
  const { store, queue, log, inFlight, onGathered, onWritten } = options;
  let results: Result<Outcome>[] = [];
  let isGathering = false;
  let isClosed = false;

  const gatherSoon = () => {
    if (isGathering) return;
    isGathering = true;
    gather({ waited: 0, before: results.length, ahead: 0 });
  };

  /**
   * Results that come in one upon the other share a transaction: a sync costs more than a short wait. So do those of
   * what was sent because of the first of them (`ahead`).
   */
  const gather = ({ waited, before, ahead }: { waited: number; before: number; ahead: number }) => {
    setImmediate(() => {
      if (isClosed) return;
      const now = results.length;
      const most = now > before ? MOST_TURNS : FEWEST_TURNS;
      if (now < inFlight() && waited < most)
        return gather({ waited: waited + 1, before: now, ahead });
      if (onGathered(results.slice(ahead)) && ahead === 0)
        return gather({ waited: 0, before: now, ahead: now });
      isGathering = false;
      const batch = results;
      results = [];
      for (const { lane } of batch) lane.unwritten = 0;
      turns.during("deliveries", () => record(batch));
    });
  };

  /** Writes results in one transaction, or each in its own where that fails. */
  const record = (batch: Result<Outcome>[]) => {
    let recorded: { result: Result<Outcome>; written: Written }[];
    try {
      recorded = store.write((tx) =>
        batch.map((result) => {
          const { lane, attempted } = result;
          const said = queue.record(tx, lane.endpoint, attempted);
          const releasedTo = recovers(lane, said) ? queue.release(tx, lane.endpoint) : null;
          return { result, written: { ...said, releasedTo } };
        }),
      );
    } catch (error) {
      const full = error instanceof ServiceError && error.code === "storage_full";
      if (batch.length > 1 && !full) for (const one of batch) record([one]);
      else putOff(batch, error);
      return;
    }
    onWritten(recorded);
  };

  /** They stay in flight in memory: an attempt is not made twice because it could not be written down. */
  const putOff = (batch: Result<Outcome>[], error: unknown) => {
    const tries = Math.max(...batch.map((result) => result.tries));
    log.error(
      { err: error, queue: queue.name, results: batch.length },
      "outcomes could not be written; trying again",
    );
    store.clock.after(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 10)), () => {
      results.push(...batch.map((result) => ({ ...result, tries: result.tries + 1 })));
      gatherSoon();
    });
  };

  return {
    add(result) {
      results.push(result);
      gatherSoon();
    },
    close() {
      isClosed = true;
    },
  };
}
