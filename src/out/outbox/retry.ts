import { parseHttpDate } from "../../ground/kit/http-date.ts";
/**
 * When to try again and when to stop (contract §6), as values in and values out. Times are Unix
 * milliseconds unless a name says otherwise.
 */

/** How one attempt of a delivery ended. `error` is what `last_error` shows. */
export type Verdict =
  | { readonly kind: "delivered"; readonly status: number }
  | { readonly kind: "later"; readonly error: string; readonly retryAfterMs?: number }
  /** No attempt was made: it waited in a queue of this side until its time was up. */
  | { readonly kind: "waiting"; readonly error: string }
  /** Trying again can't help. `disable`: the endpoint asked for no more. */
  | { readonly kind: "never"; readonly error: string; readonly disable?: true }
  /** Actions only: no answer in time, so it may have run and isn't run again. */
  | { readonly kind: "timed_out"; readonly error: string };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait after the first, second … failed attempt; the last one repeats. */
const WAITS = [2, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600].map((s) => s * SECOND);

/** A delivery older than this has failed. */
export const MAX_AGE_MS = 24 * HOUR;

/** Longest wait that a `Retry-After` may ask for. */
const LONGEST_RETRY_AFTER_MS = HOUR;

/** Once the schedule waits longer than this, a shorter `Retry-After` is taken for this. */
const RETRY_AFTER_FLOOR_MS = MINUTE;

/** How long a row rests that waited in a queue of this side: it says nothing about its endpoint. */
const WAITING_MS = 2 * SECOND;

/** What becomes of a delivery after an attempt. */
export type DeliveryNext =
  | { readonly status: "delivered" }
  | { readonly status: "pending"; readonly nextAttemptAt: number; readonly error: string }
  | { readonly status: "failed"; readonly error: string; readonly disable: boolean };

/**
 * What becomes of a delivery. `attempts` counts the one that just ended; `fraction` in [0, 1)
 * decides the jitter.
 */
export function afterAttempt(attempt: {
  verdict: Verdict;
  attempts: number;
  createdAt: number;
  now: number;
  fraction: number;
}): DeliveryNext {
  const { verdict, attempts, createdAt, now, fraction } = attempt;
  if (verdict.kind === "delivered") return { status: "delivered" };
  if (verdict.kind !== "later" && verdict.kind !== "waiting") {
    const disable = verdict.kind === "never" && verdict.disable === true;
    return { status: "failed", error: verdict.error, disable };
  }
  const wait =
    verdict.kind === "waiting"
      ? WAITING_MS
      : waitMs({ attempts, fraction, retryAfterMs: verdict.retryAfterMs });
  const nextAttemptAt = now + wait;
  return isTooOld(createdAt, nextAttemptAt)
    ? { status: "failed", error: verdict.error, disable: false }
    : { status: "pending", nextAttemptAt, error: verdict.error };
}

/** Whether a delivery made at `createdAt` is no longer worth an attempt at `at`. */
export function isTooOld(createdAt: number, at: number): boolean {
  return at - createdAt > MAX_AGE_MS;
}

/**
 * Milliseconds to wait after `attempts` failed attempts: the schedule ±20 %, or what the receiver
 * asked for. A receiver may shorten a long wait, but not to less than a minute.
 */
export function waitMs(after: {
  attempts: number;
  fraction: number;
  retryAfterMs?: number | undefined;
}): number {
  const step = Math.min(Math.max(after.attempts, 1), WAITS.length) - 1;
  const scheduled = Math.round((WAITS[step] ?? HOUR) * (0.8 + 0.4 * after.fraction));
  if (after.retryAfterMs === undefined) return scheduled;
  return Math.max(after.retryAfterMs, Math.min(scheduled, RETRY_AFTER_FLOOR_MS));
}

/**
 * Milliseconds that a `Retry-After` asks for (RFC 9110 §10.2.3: seconds, or a date in any of the
 * three forms), from 0 to an hour; undefined for anything else. A date is read against the answer's
 * own `Date` where it has one, because a box may not know the time.
 */
export function parseRetryAfter(
  value: string | undefined,
  from: { now: number; date: string | undefined },
): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return clampRetryAfter(Number(text) * SECOND);
  const at = parseHttpDate(text);
  if (at === null) return undefined;
  return clampRetryAfter(at - (parseHttpDate(from.date ?? "") ?? from.now));
}

/** A wait that was asked for, within what is obeyed: 0 to an hour. */
export function clampRetryAfter(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

/** How long attempts go on carrying the timestamp of the first: the relay takes five minutes. */
const SAME_TIMESTAMP_SECONDS = 240;

/**
 * The timestamp to sign an attempt with, in Unix seconds: the first attempt's for four minutes, so
 * that the receiver sees a retry for what it is, then the present. `first` is null on the first.
 */
export function signedTimestamp(first: number | null, now: number): number {
  const age = first === null ? -1 : now - first;
  return first !== null && age >= 0 && age < SAME_TIMESTAMP_SECONDS ? first : now;
}

export interface BreakerLimits {
  readonly minFailures: number;
  readonly minSpanMs: number;
}

export const BREAKER_LIMITS: BreakerLimits = { minFailures: 20, minSpanMs: 24 * HOUR };

/**
 * Whether an endpoint's streak of failed attempts opens its breaker: many, and for long. A count
 * alone would mute the pager after two bad minutes. `failingSince` is null outside a streak.
 */
export function breakerOpens(
  streak: { failures: number; failingSince: number | null; now: number },
  limits: BreakerLimits = BREAKER_LIMITS,
): boolean {
  if (streak.failingSince === null || streak.failures < limits.minFailures) return false;
  return streak.now - streak.failingSince >= limits.minSpanMs;
}

/** The wait before an action's second and third attempt. */
const ACTION_WAITS = [5 * SECOND, 30 * SECOND];

/** What becomes of an execution after an attempt. */
export type ExecutionNext =
  | { readonly status: "succeeded" | "failed" | "timed_out" }
  | { readonly status: "pending"; readonly nextAttemptAt: number };

/** What becomes of an execution; `attempts` counts the one that just ended. */
export function afterActionAttempt(attempt: {
  verdict: Verdict;
  attempts: number;
  now: number;
}): ExecutionNext {
  const { verdict, attempts, now } = attempt;
  if (verdict.kind === "delivered") return { status: "succeeded" };
  if (verdict.kind === "timed_out") return { status: "timed_out" };
  if (verdict.kind === "waiting") return { status: "pending", nextAttemptAt: now + WAITING_MS };
  const wait = ACTION_WAITS[attempts - 1];
  return verdict.kind === "never" || wait === undefined
    ? { status: "failed" }
    : { status: "pending", nextAttemptAt: now + wait };
}
