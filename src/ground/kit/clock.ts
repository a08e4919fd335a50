/**
 * Time is passed to all code, so tests can set it. `now` is the system's time, which may jump; `mono` only rises and
 * measures durations. Only this file asks the operating system for the time.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump forwards and back. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary start. */
  mono(): number;
  /** Calls `fn` once, `ms` (at most one day) from now by the monotonic clock. Returns a function that cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/** Longest delay of a timer. Anything later is a due column in the store. */
const LONGEST_TIMER_MS = 86_400_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, timerDelay(ms));
    return () => clearTimeout(timer);
  },
};

/** Checks a timer's delay. Throws RangeError above one day. */
export function timerDelay(ms: number): number {
  if (!(ms <= LONGEST_TIMER_MS)) throw new RangeError(`a timer of ${ms} ms: use a due column`);
  return Math.max(0, ms);
}

/** The system's time in whole Unix seconds, the unit of every integer time in the interface. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

/** Resolves `ms` from now by `clock`, or at once when `signal` aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
