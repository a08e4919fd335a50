import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";
import type { Egress } from "./egress.ts";

/** The answer's text, or in a few words why there is none. */
export type AskResult = { text: string } | { fault: string };

/**
 * Sends a GET by the guarded client: follows no redirect; an answer must be 2xx and at most 16 KiB. With `keepSeconds`
 * an earlier answer is reused for so long, and callers at the same time share one request.
 */
export type Ask = (url: string, options?: { keepSeconds?: number }) => Promise<AskResult>;

/** Senders wait for this answer before they get their own; the most patient gives up after 15 s. */
const TIMEOUT_MS = 6_000;
const MOST_BYTES = 16_384;
const MOST_KEPT = 64;

export function createAsk({ egress, clock }: { egress: Egress; clock: Clock }): Ask {
  const kept = new LRUCache<string, { until: number; told: AskResult }>({ max: MOST_KEPT });
  const asked = new Map<string, Promise<AskResult>>();
  return (url, { keepSeconds = 0 } = {}) => {
    if (keepSeconds === 0) return call(egress, url);
    const known = kept.get(url);
    if (known !== undefined && clock.mono() < known.until) return Promise.resolve(known.told);
    return asked.getOrInsertComputed(url, () =>
      call(egress, url)
        .then((told) => {
          if ("text" in told) kept.set(url, { until: clock.mono() + keepSeconds * 1000, told });
          return told;
        })
        .finally(() => asked.delete(url)),
    );
  };
}

async function call(egress: Egress, url: string): Promise<AskResult> {
  const { error, status, body, truncated } = await egress.send({
    method: "GET",
    url,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MOST_BYTES,
  });
  if (error !== null) return { fault: error };
  if (status === null || status < 200 || status > 299) return { fault: `status ${status}` };
  return truncated ? { fault: "too long" } : { text: body };
}
