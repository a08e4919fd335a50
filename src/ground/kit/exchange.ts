import type { EgressError } from "./egress-error.ts";

/** One request, sent as given: no redirect is followed, nothing is decompressed or retried. */
export interface EgressRequest {
  method: string;
  url: string;
  /** Replace the defaults `accept-encoding: identity` and `user-agent`, in any case. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Limit for the whole attempt, its body included. Default 10,000. */
  timeoutMs?: number;
  /** Bytes of the answer's body that are read. The rest is dropped with the connection. Default 4,096. */
  maxBytes?: number;
  /** Aborting it ends the attempt with `stopped`. */
  signal?: AbortSignal;
}

/** How an attempt ended. It never throws. */
export interface EgressResult {
  /** null: the answer was read to its end, or to `maxBytes`. */
  error: EgressError | null;
  /** The answer's status, also where reading its body failed; null where no answer came. */
  status: number | null;
  /** The answer's headers, names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The part of the body that was read, as UTF-8. */
  body: string;
  /** Whether the body was longer than that. */
  truncated: boolean;
  /** Whether the request may have reached the other side. */
  sent: boolean;
  durationMs: number;
}

/** The result of a request that was never sent. */
export function unsent(error: EgressError): EgressResult {
  const nothing = { status: null, headers: {}, body: "", truncated: false, sent: false };
  return { error, ...nothing, durationMs: 0 };
}
