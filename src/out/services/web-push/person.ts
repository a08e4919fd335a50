import { hash } from "node:crypto";
import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import type { Random } from "../../../ground/kit/random.ts";
import { knownZone } from "../../../ground/kit/wall-time.ts";
import { httpError, limitsOf, type Via, verdictOf } from "../../outbox/senders/sent.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import {
  type DirectMessage,
  type DirectSent,
  loudnessOfDirect,
  threadOf,
} from "../direct-message.ts";
import {
  areVapidKeys,
  encryptPush,
  mintVapidKeys,
  type PushKeys,
  type VapidKeys,
  vapidHeader,
} from "./encryption.ts";
import { type PushFacts, pushPayload } from "./payload.ts";

const webPushGateway = gatewayKind({
  kind: "web_push",
  about: "the keys for web push (VAPID); the box generates them, so you rarely need this",
  fields: z.strictObject({
    subject: text(320, 1)
      .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, { error: "must begin with mailto: or https://" })
      .optional()
      .meta({
        description:
          "contact address for push services (VAPID subject): mailto:you@example.org (default: the box's own address)",
      }),
    public_key: text(128).optional().meta({ description: "made by the box" }),
    private_key: text(128).optional().meta({ description: "made by the box" }),
  }),
  open: ["subject", "public_key"],
  // Another key than the browser subscribed with, or a subject that the service doesn't like.
  refuses: /^http 40[13]\b/,
  mint: (random) => ({ ...mintVapidKeys(random) }),
  made: ["public_key", "private_key"],
  // Every push would be refused with another's.
  apart: ({ public_key = "", private_key = "" }) =>
    public_key + private_key === "" || areVapidKeys({ public_key, private_key })
      ? null
      : {
          field: "/public_key",
          reason: "is not the key of private_key: the box makes both, so leave them out",
        },
  // Nobody is asked: each browser has a push service of its own.
  prove: async () => ({ verdict: { kind: "delivered", status: 200 } }),
});

export const webPushContact = contactKind({
  kind: "web_push",
  about: "a browser that allowed notifications",
  gateway: webPushGateway,
  fields: z.strictObject({
    address: text(2048, 1).meta({ description: "the subscription's endpoint" }),
    p256dh: text(128, 1)
      .regex(/^B[\w-]{86}=?$/, {
        error: "must be 65 bytes in base64url, as the browser gives them",
      })
      .meta({ description: "its key" }),
    auth: text(64, 1)
      .regex(/^[\w-]{22}(==)?$/, {
        error: "must be 16 bytes in base64url, as the browser gives them",
      })
      .meta({ description: "its secret" }),
    lock_screen: z
      .enum(["all", "place"], { error: "must be all or place" })
      .optional()
      .meta({ description: "`place`: a locked screen shows only “Alert in payments”" }),
    timezone: text(64, 1)
      .refine((name) => knownZone(name) !== null, { error: "must be a time zone's IANA name" })
      .optional()
      .meta({ description: "whose clock its messages go by; without it UTC" }),
  }),
  addresses: ["address"],
  shown: ({ address }) => new URL(address).hostname,
  notes: true,
  send: ({ gateway, fields, message, egress, now, random, publicUrl, receipt }) =>
    sendWebPush(
      { egress, now },
      {
        gateway: {
          public_key: gateway.public_key ?? "",
          private_key: gateway.private_key ?? "",
          subject: gateway.subject ?? ownSubject(publicUrl),
        },
        subscription: {
          endpoint: fields.address,
          keys: { p256dh: fields.p256dh, auth: fields.auth },
        },
        message,
        random,
        receipt,
        base: publicUrl,
        device: {
          lockScreen: fields.lock_screen ?? "all",
          zone: fields.timezone === undefined ? null : knownZone(fields.timezone),
        },
      },
    ),
});

/** A push service takes an https address or a mail address; a box that has none is one that only its own machine sees. */
function ownSubject(publicUrl: string | null): string {
  return publicUrl?.startsWith("https://") ? new URL(publicUrl).origin : "https://localhost";
}

/** Where a browser can be pushed to, as it says itself (Push API, `PushSubscription.toJSON`). */
export interface PushSubscription {
  endpoint: string;
  keys: PushKeys;
}

/** One attempt at one browser. */
interface WebPushRequest {
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
