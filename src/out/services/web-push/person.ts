import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { sendWebPush } from "./direct.ts";
import { areVapidKeys, mintVapidKeys } from "./encryption.ts";
import { knownZone } from "./payload.ts";

export const webPushGateway = gatewayKind({
  kind: "web_push",
  about: "the keys that browsers' push services know this box by; it makes them itself",
  fields: z.strictObject({
    subject: text(320, 1)
      .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, { error: "must begin with mailto: or https://" })
      .optional()
      .meta({
        description:
          "whom a push service may write to: mailto:you@example.org; without it the box's own address",
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
  gateway: "web_push",
  served: webPushGateway.fields,
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
  gapMs: 5_000,
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
