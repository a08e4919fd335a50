import { ServiceError } from "../../ground/kit/errors.ts";
import { isFatal } from "../../ground/store/faults.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { eventChars } from "./event.ts";

export interface BatchLimits {
  /** Events that may wait; past it the answer is 429 before any write. */
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

/** Called once for each group: after the commit with an answer for each event, or with why there was none. */
export type Settle = (error: unknown, answers: readonly IngestAnswer[] | null) => void;

/** Events that are committed together: one request's. */
interface Group {
  arrivals: readonly Arrival[];
  chars: number;
  settle: Settle;
}

export interface Batcher {
  /**
   * Throws ServiceError overloaded where the waiting events and their characters would pass the bounds. For who is
   * refused last (`isLast`) there is room beyond them.
   */
  submit(arrivals: readonly Arrival[], settle: Settle, isLast?: boolean): void;
  /** Writes all that waits, now. */
  drain(): void;
  readonly waiting: number;
}

/** What batches are written with. */
export interface BatchWriter {
  /**
   * Writes a batch, committed before this returns: all of it, or where that is too much its first groups,
   * at least one. The rest is written with a later turn.
   */
  process(batch: readonly Arrival[]): IngestAnswer[];
  /** Milliseconds the latest commit took. */
  commitMs(): number;
  /** Monotonic milliseconds. */
  now(): number;
}

/** What may wait of those who are refused last, in parts of the bounds. */
const ROOM_OF_LAST = 1.25;
/** A batch this small waits for company as long as each turn of the loop brings some. */
const SMALL = 16;
const MOST_TURNS = 24;
/** A batch of any size waits for a part of what the commit will take, unless so many turns bring nothing. */
const PART_OF_COMMIT = 4;
const EMPTY_TURNS = 3;
/** And for so many turns at least, however long a busy one takes: each lets one new connection in. */
const TURNS_PER_MS = 3;
const MOST_PATIENT_TURNS = 512;

/**
 * Group commit: what arrives in one turn of the event loop shares one transaction and one sync. The loop
 * takes one new connection a turn, so a small batch lingers a few turns while it grows, and on a slow
 * disk every batch does: else each sync would let one connection in. A lone event is written with the
 * next turn, or where a sync takes milliseconds, a few turns later.
 */
export function createBatcher(
  { process, commitMs, now }: BatchWriter,
  limits: BatchLimits,
): Batcher {
  let queue: Group[] = [];
  let events = 0;
  let chars = 0;
  let scheduled = false;
  let sizeBefore = 0;
  let turns = 0;
  let emptyTurns = 0;
  let until = 0;

  /** Whether the batch is better written with one of the next turns. */
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
    const settled = settleGroups(batch, process);
    for (const group of batch.slice(0, settled)) {
      events -= group.arrivals.length;
      chars -= group.chars;
    }
    if (settled < batch.length) queue = [...batch.slice(settled), ...queue];
    if (queue.length > 0) schedule();
  };

  return {
    submit(arrivals, settle, isLast = false) {
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
    drain() {
      while (queue.length > 0) flush();
    },
    get waiting() {
      return events;
    },
  };
}

/** The first groups, up to `most` events; at least one group, whole. */
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

/** How many groups, from the first, were written or refused. */
function settleGroups(
  batch: readonly Group[],
  process: (batch: readonly Arrival[]) => IngestAnswer[],
): number {
  const [first] = batch;
  const arrivals =
    batch.length === 1 && first ? first.arrivals : batch.flatMap((group) => group.arrivals);
  let answers: IngestAnswer[];
  try {
    answers = process(arrivals);
  } catch (error) {
    // One group that can't be processed must not refuse its neighbours.
    if (batch.length > 1 && !isFatal(error) && !isRefusedForAll(error)) {
      for (const group of batch) settleGroups([group], process);
    } else {
      for (const { settle } of batch) settle(error, null);
    }
    return batch.length;
  }
  let at = 0;
  let settled = 0;
  for (const group of batch) {
    if (group.arrivals.length > 0 && at >= answers.length) break;
    settled += 1;
    group.settle(
      null,
      group.arrivals.length === answers.length
        ? answers
        : answers.slice(at, at + group.arrivals.length),
    );
    at += group.arrivals.length;
  }
  return settled;
}

function isRefusedForAll(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 429;
}
