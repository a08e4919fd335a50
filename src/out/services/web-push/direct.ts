import { hash } from "node:crypto";
import type { Random } from "../../../ground/kit/random.ts";
import { httpError, limitsOf, type Via, verdictOf } from "../../outbox/senders/sent.ts";
import {
  type DirectMessage,
  type DirectSent,
  loudnessOfDirect,
  threadOf,
} from "../direct-message.ts";
import { encryptPush, type PushKeys, type VapidKeys, vapidHeader } from "./encryption.ts";
import { type PushFacts, pushPayload } from "./payload.ts";

/** Where a browser can be pushed to, as it says itself (Push API, `PushSubscription.toJSON`). */
export interface PushSubscription {
  endpoint: string;
  keys: PushKeys;
}

/** One attempt at one browser. */
export interface WebPushRequest {
  /** The box's own keys; `subject` is `mailto:` or `https:`, without which Apple refuses. */
  gateway: VapidKeys & { subject: string };
  subscription: PushSubscription;
  message: DirectMessage;
  /** What stands for having shown it. */
  receipt: string;
  /** What addresses begin with; null where the box has no public one. */
  base: string | null;
  device: Pick<PushFacts, "lockScreen" | "zone">;
  random: Random;
}

/** How long a push service keeps what a phone that is off hasn't got: as long as a page is worth anything. */
const TTL_SECONDS = 3_600;

/**
 * Pushes a message. Taken is not shown. `never` with `disable` says that the subscription is gone; a message to the same
 * alert takes the place of one that the phone hasn't got yet.
 */
export async function sendWebPush(via: Via, request: WebPushRequest): Promise<DirectSent> {
  const { gateway, message } = request;
  const { endpoint } = request.subscription;
  const thread = threadOf(message);
  const body = encrypted(request, via.now);
  if (body === null)
    return { verdict: { kind: "never", error: "unusable subscription keys", disable: true } };
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: endpoint,
    body,
    headers: {
      Authorization: vapidHeader(gateway, { endpoint, subject: gateway.subject, now: via.now }),
      "Content-Type": "application/octet-stream",
      "Content-Encoding": "aes128gcm",
      TTL: String(TTL_SECONDS),
      Urgency: loudnessOfDirect(message) === "silent" ? "normal" : "high",
      ...(thread !== null && { Topic: hash("sha256", thread, "base64url").slice(0, 32) }),
    },
  });
  const { status } = result;
  if (status === 404 || status === 410)
    return { verdict: { kind: "never", error: httpError(status), disable: true } };
  if (status === 413) return { verdict: { kind: "never", error: httpError(status) } };
  return { verdict: verdictOf(result, via.now) };
}

function encrypted(request: WebPushRequest, now: number): Buffer | null {
  const { message, receipt, base, device, subscription, random } = request;
  const facts = { message, receipt, base, ...device, now: Math.floor(now / 1_000) };
  const plain = Buffer.from(JSON.stringify(pushPayload(facts)));
  try {
    return encryptPush(plain, subscription.keys, random);
  } catch {
    return null;
  }
}
