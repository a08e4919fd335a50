import type { PushResult } from "./apns-answer.ts";

export interface PushedDevice {
  token: string;
  result: PushResult;
}

/** A page's result, and what to store of each device. */
export interface PageVerdict {
  /**
   * `paged`: over; a retry would change nothing. `failed`: the provider may accept the rest later. `unavailable`: the
   * operator must act first.
   */
  outcome:
    | { kind: "paged" }
    | { kind: "failed"; why: string; retryAfter: number | null }
    | { kind: "unavailable"; why: string };
  reached: string[];
  gone: { token: string; atMs: number | null }[];
  /** Devices to set aside until they register again. */
  bad: string[];
}

/**
 * Judges the pushes of one page; `earlier` devices were reached by previous tries. When two or more were pushed to and
 * every one is called a bad token, the environment is wrong and not the tokens: none is set aside (contract §7).
 */
export function judgePage(pushed: readonly PushedDevice[], earlier: number): PageVerdict {
  const reached = tokensOf(pushed, "delivered");
  const bad = tokensOf(pushed, "bad_token");
  const isProven = earlier + reached.length > 0;
  const isOurFault = bad.length >= 2 && bad.length === pushed.length && !isProven;
  const outcome = isOurFault
    ? {
        kind: "unavailable" as const,
        why: "APNs calls every device token bad: is it the right environment?",
      }
    : outcomeOf(pushed);
  // While some devices are still untried, a bad token can turn out to be a wrong environment.
  const isSure = isProven || outcome.kind === "paged";
  const gone = pushed.flatMap(({ token, result }) =>
    result.kind === "gone" ? [{ token, atMs: result.at }] : [],
  );
  return { outcome, reached, gone, bad: isSure ? bad : [] };
}

function outcomeOf(pushed: readonly PushedDevice[]): PageVerdict["outcome"] {
  const results = pushed.map((device) => device.result);
  const fault = results.find((result) => result.kind === "misconfigured");
  if (fault !== undefined) return { kind: "unavailable", why: fault.why };
  const retries = results.filter((result) => result.kind === "retry");
  const [first] = retries;
  if (first === undefined) return { kind: "paged" };
  const waits = retries.flatMap((result) =>
    result.retryAfter === null ? [] : [result.retryAfter],
  );
  return {
    kind: "failed",
    why: first.why,
    retryAfter: waits.length > 0 ? Math.max(...waits) : null,
  };
}

function tokensOf(pushed: readonly PushedDevice[], kind: PushResult["kind"]): string[] {
  return pushed.filter((device) => device.result.kind === kind).map((device) => device.token);
}
