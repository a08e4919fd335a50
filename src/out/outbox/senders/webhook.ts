import { signedHeaders } from "../../../ground/kit/sign.ts";
import { limitsOf, type Posted, serverTime, type Via, verdictOf } from "./sent.ts";

/** One attempt at one webhook, the hosted relay included. */
interface WebhookRequest {
  url: string;
  secret: string;
  eventId: string;
  /** Unix seconds to sign with: see `signedTimestamp`. */
  timestamp: number;
  /** The event's body as committed, byte for byte. */
  body: string;
}

/** Signs the body and posts it (contract §17, rule 2, contract §6 Headers). `answer`: what was read of the answer's body. */
export async function sendWebhook(
  via: Via,
  request: WebhookRequest,
): Promise<Posted & { answer: string }> {
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: request.url,
    headers: { "Content-Type": "application/json", ...signedHeaders(request) },
    body: request.body,
  });
  return {
    verdict: verdictOf(result, via.now),
    durationMs: result.durationMs,
    serverTime: serverTime(result),
    answer: result.body,
  };
}
