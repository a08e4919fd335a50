/**
 * Node's threads for files, passwords and names. At most half of them, rounded up, work on names at
 * one time (libuv, UV__WORK_SLOW_IO), so silent name servers never keep a file or a password waiting.
 */

/** Small enough for the 64 tasks that older service units allow. */
const THREADS = 48;
/** What libuv makes when nobody says. */
const USUAL_THREADS = 4;
/** Lookups that other code of the process may have under way beside ours. */
const SPARE = 2;

type Environment = Record<string, string | undefined>;

/**
 * Asks for enough threads that many silent names can be waited for at once; a number that the operator
 * set stays. Holds only when called before the first thread is needed. A thread that rests costs 10 KB.
 */
export function widenThreadPool(env: Environment): void {
  env["UV_THREADPOOL_SIZE"] ??= String(THREADS);
}

/** How many lookups of ours can really be under way at one time. */
export function lookupPlaces(env: Environment): number {
  const threads = Number(env["UV_THREADPOOL_SIZE"] ?? USUAL_THREADS);
  const half = Math.ceil((Number.isInteger(threads) && threads > 0 ? threads : USUAL_THREADS) / 2);
  return Math.max(2, half - SPARE);
}
