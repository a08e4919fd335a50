import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { mintWebhookSecret } from "../../../ground/kit/sign.ts";
import { sendWebhook } from "../../outbox/senders/webhook.ts";
import { channel } from "../channel.ts";

/** The signed webhook (contract §17): the event's own bytes. */
export const webhook = channel({
  kind: "webhook",
  about: "a signed webhook",
  fields: z.strictObject({
    url: text(2048).meta({ description: "the URL that events are posted to" }),
    secret: text(256)
      .optional()
      .meta({ description: "signing secret; the box generates one if you give none" }),
  }),
  addresses: ["url"],
  flags: { url: "<url>", secret: "--secret <secret>" },
  mint: mintWebhookSecret,
  bodyAsIs: true,
  send({ credentials, message, egress, now }) {
    const { eventId, body, signedAt } = message;
    const { url, secret = "" } = credentials;
    return sendWebhook({ egress, now }, { url, secret, eventId, body, timestamp: signedAt });
  },
});
