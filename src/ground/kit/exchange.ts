import type { EgressError } from "./egress-error.ts";

/** One request to send, as it is: no redirect is followed, nothing is decompressed or retried. */
export interface EgressRequest {
  method: string;
  url: string;
  /** Beat the defaults `accept-encoding: identity` and `user-agent`, whatever their case. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Limit for the whole attempt, body included. Default 10,000. */
  timeoutMs?: number;
  /** How much of the answer's body is read; the rest is dropped with its connection. Default 4,096. */
  maxBytes?: number;
  /** Gives the attempt up (`stopped`). */
  signal?: AbortSignal;
}

/** How an attempt ended. Nothing is thrown. */
export interface EgressResult {
  /** null: an answer was read to its end, or to `maxBytes` of it. */
  error: EgressError | null;
  /** The answer's status, also when its body failed later; null when none came. */
  status: number | null;
  /** The answer's headers, names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** What was read of the body, as UTF-8. */
  body: string;
  /** Whether the body went on past what was read. */
  truncated: boolean;
  /** Whether the request may have reached the other side. */
  sent: boolean;
  durationMs: number;
}

/** The result of a request that never left. */
export function unsent(error: EgressError): EgressResult {
  const nothing = { status: null, headers: {}, body: "", truncated: false, sent: false };
  return { error, ...nothing, durationMs: 0 };
}
