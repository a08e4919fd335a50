import * as z from "zod";
import { hexIdField, list, text } from "../../ground/kit/fields.ts";
import { knownZone } from "../../ground/kit/wall-time.ts";

/** Browsers that are pushed to: as they are written and read over the interface. */

const MOST_WISHES = 50;

/** What a device is pushed: pages of its person, the beginning of their shifts, alerts of a project that has no ladder for them. */
export const wishes = list(
  text(160, 1).regex(/^(pages|shift|all:.+)$/s, { error: "must be pages, shift or all:PROJECT" }),
  MOST_WISHES,
);

const device = {
  label: text(128)
    .optional()
    .meta({ description: "What its person calls it: `Pixel 8 · Chrome`." }),
  wants: wishes
    .optional()
    .meta({ description: "`pages`, `shift`, `all:PROJECT`. Default: pages and shift." }),
  lock_screen: z
    .enum(["all", "place"], { error: "must be all or place" })
    .optional()
    .meta({ description: "`place`: notifications say only “Alert in payments”." }),
  timezone: text(64, 1)
    .refine((name) => knownZone(name) !== null, { error: "must be a time zone's IANA name" })
    .optional()
    .meta({ description: "Whose clock its notifications go by; without it UTC." }),
};

/** `PushSubscription.toJSON()` of the browser, and what its person wants. */
export const subscriptionWrite = z
  .strictObject({
    endpoint: text(2048, 1),
    keys: z.strictObject({ p256dh: text(128, 1), auth: text(64, 1) }),
    ...device,
    server_key: text(128, 1)
      .optional()
      .meta({ description: "The key that it subscribed with. Default: the present one." }),
    replaces: hexIdField.optional().meta({
      description:
        "The subscription that this browser had before: what waits for it, its place in notification rules and the wishes that aren't said anew go on here.",
    }),
  })
  .meta({ id: "PushSubscriptionWrite" });
export type SubscriptionWrite = z.output<typeof subscriptionWrite>;

/** What a browser gives beside, and what only a read returns. */
export const subscriptionReadOnly = ["expirationTime"];

export const subscriptionChange = z.strictObject(device).meta({ id: "PushSubscriptionChange" });
export type SubscriptionChange = z.output<typeof subscriptionChange>;

export const subscriptionAnswer = z
  .object({
    id: z.string().meta({ description: "Of the contact that it is." }),
    label: z.string(),
    host: z.string().meta({ description: "The push service's." }),
    wants: z.array(z.string()),
    lock_screen: z.enum(["all", "place"]),
    timezone: z.string().nullable(),
    state: z.enum(["unverified", "verified", "failing", "off"]).meta({
      description: "As a contact's. `off` with `last_error` 404 or 410: its browser gave it up.",
    }),
    renew: z.boolean().meta({
      description: "It subscribed with a key that the box has no more: it must subscribe anew.",
    }),
    accepted_at: z.int().nullable().meta({ description: "When its service last took a message." }),
    shown_at: z.int().nullable().meta({ description: "When the device last showed one." }),
    shown_after: z.int().nullable().meta({ description: "Seconds after it was sent." }),
    last_error: z.string().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "PushSubscription" });
export type Subscription = z.output<typeof subscriptionAnswer>;

export const pushKeyAnswer = z.object({
  public_key: z.string().meta({
    description:
      "What `pushManager.subscribe` is given as `applicationServerKey`. A subscription made with another is worth nothing.",
  }),
});
