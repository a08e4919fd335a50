import { hash } from "node:crypto";
import type { Random } from "../../kit/random.ts";
import { httpError, limitsOf, type Via, verdictOf } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, loudnessOfDirect, threadOf } from "./message.ts";
import {
  encryptPush,
  LONGEST_PAYLOAD,
  type PushKeys,
  type VapidKeys,
  vapidHeader,
} from "./push-encryption.ts";

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
  random: Random;
}

/** How long a push service keeps what a phone that is off hasn't got: as long as a page is worth anything. */
const TTL_SECONDS = 3_600;

/**
 * Pushes a message. Taken is not shown. `never` with `disable` says that the subscription is gone; a message to the same
 * alert takes the place of one that the phone hasn't got yet.
 */
export async function sendWebPush(via: Via, request: WebPushRequest): Promise<DirectSent> {
  const { gateway, subscription, message, random } = request;
  const { endpoint, keys } = subscription;
  const thread = threadOf(message);
  const body = encrypted(message, keys, random);
  if (body === null)
    return { verdict: { kind: "never", error: "unusable subscription keys", disable: true } };
  const result = await via.egress.send({
    ...limitsOf(via),
    ...{ method: "POST", url: endpoint, body },
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

function encrypted(message: DirectMessage, keys: PushKeys, random: Random): Buffer | null {
  const plain = Buffer.from(JSON.stringify(pushPayload(message)));
  try {
    return encryptPush(plain, keys, random);
  } catch {
    return null;
  }
}

/** Longer addresses would leave no room for words; the service worker then opens the box's own. */
const ADDRESS = 1_000;
/** In UTF-16 units. */
const PUSH_TITLE = 200;

/** What the service worker is told: JSON within what one record takes. `tag` puts messages about one alert in one place. */
export function pushPayload(message: DirectMessage): object {
  const { purpose, id, title, lines, level, link, ack, code } = message;
  const fits = (url: string | null) => (url !== null && url.length <= ADDRESS ? url : null);
  const told = {
    ...{ purpose, id, level, code, tag: threadOf(message) ?? id },
    title: title.slice(0, PUSH_TITLE).replace(/[\ud800-\udbff]$/, ""),
    link: fits(link),
    ack: ack && { url: fits(ack.url), handle: ack.handle },
  };
  const room = LONGEST_PAYLOAD - Buffer.byteLength(JSON.stringify({ ...told, body: "" }));
  return { ...told, body: jsonWithin(lines.join("\n"), room) };
}

/** Cut between characters so that it takes at most `most` bytes inside a JSON string. */
function jsonWithin(whole: string, most: number): string {
  const size = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;
  if (size(whole) <= most) return whole;
  let left = most - size("…");
  let kept = "";
  for (const char of whole) {
    left -= size(char);
    if (left < 0) break;
    kept += char;
  }
  return `${kept}…`;
}
