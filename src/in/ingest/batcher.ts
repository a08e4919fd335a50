import { ServiceError } from "../../ground/kit/errors.ts";
import type { DurableGate } from "../../ground/kit/gate.ts";
import { isFatal } from "../../ground/store/faults.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { eventChars } from "./event.ts";

export interface BatchLimits {
  /** Events that may wait; above it the answer is 429 before any write. */
  waitingEvents: number;
  /** Characters of events that may wait. */
  waitingChars: number;
  /** Most events of one transaction. */
  batch: number;
}

export const defaultBatchLimits: BatchLimits = {
  waitingEvents: 50_000,
  waitingChars: 32 * 1024 * 1024,
  batch: 500,
};

/** Called once for each group: after the commit with an answer for each event, or with the error. */
export type Settle = (error: unknown, answers: readonly IngestAnswer[] | null) => void;

/** The events of one request, which are committed together. */
interface Group {
  arrivals: readonly Arrival[];
  chars: number;
  settle: Settle;
}

interface BatchWriter {
  /**
   * Writes a batch and commits it before it returns: the whole, or where that is too much its first groups, at least
   * one. The rest is written in a later turn.
   */
  process(batch: readonly Arrival[]): IngestAnswer[];
  /** Milliseconds that the latest commit took. */
  commitMs(): number;
  /** Monotonic milliseconds. */
  now(): number;
  /** Whether callers may hear of what was written. null: yes. Rejects with their error where they may not. */
  mayTell(written: readonly Arrival[]): ReturnType<DurableGate>;
}

/** The higher limits of `isLast`, as a factor. */
const ROOM_OF_LAST = 1.25;
/** A batch this small waits for more as long as each turn of the event loop brings some. */
const SMALL = 16;
const MOST_TURNS = 24;
/** A batch of any size waits for a part of the expected commit time, until so many turns bring nothing. */
const PART_OF_COMMIT = 4;
const EMPTY_TURNS = 3;
/** It waits for at least so many turns, however long a busy one takes: each accepts one new connection. */
const TURNS_PER_MS = 3;
const MOST_PATIENT_TURNS = 512;

/**
 * Group commit: events of one turn of the event loop share one transaction and one sync. A turn accepts one new
 * connection, so a small batch waits a few turns to grow; on a slow disk every batch does, else each sync would accept
 * only one connection. A single event waits only where a sync takes milliseconds.
 */
export function createBatcher(
  { process, commitMs, now, mayTell }: BatchWriter,
  limits: BatchLimits,
) {
  let queue: Group[] = [];
  let events = 0;
  let chars = 0;
  let scheduled = false;
  let sizeBefore = 0;
  let turns = 0;
  let emptyTurns = 0;
  let until = 0;

  /** Whether the batch should wait for another turn. */
  const mayLinger = (): boolean => {
    const grew = events > sizeBefore;
    emptyTurns = grew ? 0 : emptyTurns + 1;
    sizeBefore = events;
    turns++;
    if (grew && events < SMALL && turns <= MOST_TURNS) return true;
    if (emptyTurns >= EMPTY_TURNS || turns >= MOST_PATIENT_TURNS) return false;
    return now() < until || (events < limits.batch && turns < commitMs() * TURNS_PER_MS);
  };

  const turn = () => {
    if (mayLinger()) return void setImmediate(turn);
    scheduled = false;
    flush();
  };

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    sizeBefore = 0;
    turns = 0;
    emptyTurns = 0;
    until = now() + commitMs() / PART_OF_COMMIT;
    setImmediate(turn);
  };

  const flush = () => {
    const batch = takeGroups(queue, limits.batch);
    queue = batch.length === queue.length ? [] : queue.slice(batch.length);
    const settled = settleGroups(batch, process, mayTell);
    for (const group of batch.slice(0, settled)) {
      events -= group.arrivals.length;
      chars -= group.chars;
    }
    if (settled < batch.length) queue = [...batch.slice(settled), ...queue];
    if (queue.length > 0) schedule();
  };

  return {
    /** Throws ServiceError overloaded above the limits of waiting events, which are higher with `isLast`. */
    submit(arrivals: readonly Arrival[], settle: Settle, isLast: boolean = false) {
      const room = isLast ? ROOM_OF_LAST : 1;
      const group = { arrivals, chars: charsOf(arrivals), settle };
      if (
        events + arrivals.length > limits.waitingEvents * room ||
        chars + group.chars > limits.waitingChars * room
      )
        throw new ServiceError(
          "overloaded",
          "More events wait than can be written: try again shortly.",
          { retryAfter: 1 },
        );
      events += arrivals.length;
      chars += group.chars;
      queue.push(group);
      schedule();
    },
    /** Writes everything that waits, now. */
    drain() {
      while (queue.length > 0) flush();
    },
    get waiting() {
      return events;
    },
  };
}

/** The first groups, up to `most` events; at least one whole group. */
function takeGroups(queue: Group[], most: number): Group[] {
  let size = 0;
  let n = 0;
  for (const { arrivals } of queue) {
    if (n > 0 && size + arrivals.length > most) break;
    size += arrivals.length;
    n++;
  }
  return n === queue.length ? queue : queue.slice(0, n);
}

function charsOf(arrivals: readonly Arrival[]): number {
  let sum = 0;
  for (const { event } of arrivals) sum += eventChars(event);
  return sum;
}

/** Returns how many groups, from the first, were written or refused. */
function settleGroups(
  batch: readonly Group[],
  process: (batch: readonly Arrival[]) => IngestAnswer[],
  mayTell: BatchWriter["mayTell"],
): number {
  const [first] = batch;
  const arrivals =
    batch.length === 1 && first ? first.arrivals : batch.flatMap((group) => group.arrivals);
  let answers: IngestAnswer[];
  try {
    answers = process(arrivals);
  } catch (error) {
    // A group that fails must not make the others fail.
    if (batch.length > 1 && !isFatal(error) && !isRefusedForAll(error)) {
      for (const group of batch) settleGroups([group], process, mayTell);
    } else {
      const tell = teller(mayTell([]));
      for (const { settle } of batch) tell(settle, error, null);
    }
    return batch.length;
  }
  const tell = teller(mayTell(arrivals.slice(0, answers.length)));
  let at = 0;
  let settled = 0;
  for (const group of batch) {
    if (group.arrivals.length > 0 && at >= answers.length) break;
    settled += 1;
    tell(
      group.settle,
      null,
      group.arrivals.length === answers.length
        ? answers
        : answers.slice(at, at + group.arrivals.length),
    );
    at += group.arrivals.length;
  }
  return settled;
}

type Tell = (settle: Settle, ...result: Parameters<Settle>) => void;

const tellNow: Tell = (settle, error, answers) => settle(error, answers);

/** Tells a caller how it went, now or once they may hear of it. */
function teller(waiting: Promise<void> | null): Tell {
  if (waiting === null) return tellNow;
  return (settle, error, answers) =>
    void waiting.then(
      () => settle(error, answers),
      (why: unknown) => settle(why, null),
    );
}

function isRefusedForAll(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 429;
}
