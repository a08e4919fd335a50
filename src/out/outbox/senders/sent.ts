import type { Egress } from "../../../ground/kit/egress.ts";
import type { EgressResult } from "../../../ground/kit/exchange.ts";
import { parseHttpDate } from "../../../ground/kit/http-date.ts";
import { parseRetryAfter, type Verdict } from "../retry.ts";

/** What every sender needs beside its own values. */
export interface Via {
  egress: Egress;
  /** Wall time in milliseconds: what a `Retry-After` date is read against. */
  now: number;
  /** Limit for the attempt; the client's own unless given. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** How a request to a receiver went. */
export interface Posted {
  verdict: Verdict;
  durationMs: number;
  /** The receiver's clock (`Date`) in milliseconds, where it told: shows whether ours is right. */
  serverTime: number | null;
}

/**
 * What an answer means for a delivery (contract §6): 2xx is success, 410 asks for no more, and
 * everything else is worth trying again, because receivers say 404 and 422 on their bad days. A 2xx
 * whose body broke off counts as failed: twice is better than never. `note` goes into the error.
 */
export function verdictOf(result: EgressResult, now: number, note = ""): Verdict {
  const { status, error, headers } = result;
  if (error === "busy") return { kind: "waiting", error };
  if (status === null || (error !== null && isSuccess(status))) {
    return { kind: "later", error: error ?? "network" };
  }
  if (isSuccess(status)) return { kind: "delivered", status };
  const told = httpError(status, note);
  if (status === 410) return { kind: "never", error: told, disable: true };
  const retryAfterMs = parseRetryAfter(headers["retry-after"], { now, date: headers["date"] });
  return { kind: "later", error: told, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** `http 503`, and what more is known. */
export function httpError(status: number, note = ""): string {
  const redirect = status >= 300 && status < 400 ? "redirect not followed" : "";
  return [`http ${status}`, redirect, note].filter(Boolean).join(": ");
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The last date that was read: answers of one second have the same. */
let read: { text: string; at: number | null } = { text: "", at: null };

export function serverTime({ headers }: EgressResult): number | null {
  const text = headers["date"] ?? "";
  if (text !== read.text) read = { text, at: parseHttpDate(text) };
  return read.at;
}

/** The part of a request that comes from `Via`. */
export function limitsOf(via: Via): { timeoutMs?: number; signal?: AbortSignal } {
  const { timeoutMs, signal } = via;
  return { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal !== undefined && { signal }) };
}
