import type { EgressResult } from "../../../ground/kit/exchange.ts";
import { cut } from "../../../ground/kit/text.ts";
import { mask, secretsOf } from "../mask.ts";
import type { Verdict } from "../retry.ts";
import { httpError, isSuccess, type Via } from "./sent.ts";

/** One attempt of one runbook action. */
export interface ActionRequest {
  method: string;
  url: string;
  /** The stored headers, unsealed; they beat the default ones. */
  headers: Readonly<Record<string, string>>;
  /** The stored body, unsealed; null when none is stored, and the event's body is sent. */
  body: string | null;
  eventBody: string;
  /** 0: ten seconds (contract §6, Runbook actions). */
  timeoutSeconds: number;
}

/** How it went: the verdict, and what the execution's row shows. */
export interface ActionOutcome {
  verdict: Verdict;
  statusCode: number | null;
  durationMs: number;
  /** The first 1,024 characters of the answer, the row's own secrets masked. */
  responsePrefix: string;
  /** Empty on success. */
  error: string;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const PREFIX_CHARS = 1_024;

/** Sends the request as configured. It isn't signed: what it needs stands in its headers. */
export async function sendAction(
  via: Omit<Via, "timeoutMs" | "now">,
  request: ActionRequest,
): Promise<ActionOutcome> {
  const { headers, body } = request;
  const named = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const result = await via.egress.send({
    method: request.method,
    url: request.url,
    headers: { ...(named ? {} : { "Content-Type": "application/json" }), ...headers },
    body: body ?? request.eventBody,
    timeoutMs: request.timeoutSeconds * 1_000 || DEFAULT_TIMEOUT_MS,
    ...(via.signal !== undefined && { signal: via.signal }),
  });
  const verdict = actionVerdict(result);
  // A body that broke off may end within a secret too.
  const cutShort = result.truncated || result.error !== null;
  return {
    verdict,
    statusCode: result.status,
    durationMs: result.durationMs,
    responsePrefix: cut(mask(result.body, secretsOf(headers, body), cutShort), PREFIX_CHARS),
    error: verdict.kind === "delivered" ? "" : verdict.error,
  };
}

/**
 * What an answer means for an action: 2xx is success, 429, 5xx and a broken connection are worth
 * another attempt, and a time-out is final, because the action may have run. So may one whose 2xx
 * broke off: its status is taken for its word. A connection that was never made can't have run.
 */
function actionVerdict({ status, error }: EgressResult): Verdict {
  if (error === "busy") return { kind: "waiting", error };
  if (error === "timeout" || (error === "body_too_slow" && isSuccess(status ?? 0))) {
    return { kind: "timed_out", error };
  }
  if (status === null) {
    const hopeless = error === "bad_url" || error === "bad_request";
    return { kind: hopeless ? "never" : "later", error: error ?? "network" };
  }
  if (isSuccess(status)) return { kind: "delivered", status };
  const again = status === 429 || status >= 500;
  return { kind: again ? "later" : "never", error: httpError(status) };
}
