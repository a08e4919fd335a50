import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { mintWebhookSecret } from "../../../ground/kit/sign.ts";
import { sendWebhook } from "../../outbox/senders/webhook.ts";
import { contactKind } from "../contact-kind.ts";

export const webhookContact = contactKind({
  kind: "webhook",
  about: "a web address of one's own that takes signed pages",
  gateway: null,
  fields: z.strictObject({
    address: text(2048, 1).meta({ description: "the URL that messages are posted to" }),
    secret: text(256).optional().meta({
      description: "signing secret of its requests; the box generates one if you give none",
    }),
  }),
  addresses: ["address"],
  mint: mintWebhookSecret,
  shown: ({ address }) => new URL(address).origin,
  notes: true,
  async send({ fields, message, egress, now }) {
    const body = JSON.stringify({
      purpose: message.purpose,
      id: message.id,
      title: message.title,
      lines: message.lines,
      level: message.level,
      link: message.link,
      code: message.code,
      acknowledge_url: message.ack?.url ?? null,
      alerts: message.events,
    });
    const { verdict } = await sendWebhook(
      { egress, now },
      {
        url: fields.address,
        secret: fields.secret ?? "",
        eventId: message.id,
        timestamp: Math.floor(now / 1000),
        body,
      },
    );
    return { verdict };
  },
});
