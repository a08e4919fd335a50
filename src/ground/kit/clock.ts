/**
 * Time as a thing that is handed in. `now` is wall time, which may jump; `mono` only ever rises and
 * is what lengths are measured with. Nothing outside this file asks the operating system for the time.
 */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. May jump either way. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary start. */
  mono(): number;
  /** Calls `fn` once, `ms` from now by the monotonic clock (at most one day). Returns its cancel. */
  after(ms: number, fn: () => void): () => void;
}

/** Longest delay a timer may be given: far deadlines are due columns, never timers. */
const LONGEST_TIMER_MS = 86_400_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, timerDelay(ms));
    return () => clearTimeout(timer);
  },
};

/** A delay that Node's timers take as it is meant. Throws RangeError past one day. */
export function timerDelay(ms: number): number {
  if (!(ms <= LONGEST_TIMER_MS)) throw new RangeError(`a timer of ${ms} ms: use a due column`);
  return Math.max(0, ms);
}

/** Wall time in whole Unix seconds, the unit of every integer time in the interface. */
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
