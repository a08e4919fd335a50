/**
 * Node's threads for files, passwords and lookups. At most half of them, rounded up, serve lookups at one time (libuv,
 * UV__WORK_SLOW_IO), so silent name servers never delay a file or a password.
 */

/** Few enough for the limit of 64 tasks in older service units. */
const THREADS = 48;
/** libuv's default. */
const USUAL_THREADS = 4;
/** Lookups that other code of the process may have under way. */
const SPARE = 2;

type Environment = Record<string, string | undefined>;

/**
 * Sets enough threads to wait for many silent names at once; a number that the operator set stays. Must be called
 * before the first thread is needed. An idle thread costs 10 KB.
 */
export function widenThreadPool(env: Environment): void {
  env["UV_THREADPOOL_SIZE"] ??= String(THREADS);
}

/** How many of our lookups can be under way at one time. */
export function lookupPlaces(env: Environment): number {
  const threads = Number(env["UV_THREADPOOL_SIZE"] ?? USUAL_THREADS);
  const half = Math.ceil((Number.isInteger(threads) && threads > 0 ? threads : USUAL_THREADS) / 2);
  return Math.max(2, half - SPARE);
}
