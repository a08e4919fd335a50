import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { lookAt, under } from "../look.ts";
import { masked } from "../shown.ts";
import { sendSms } from "./sms.ts";
import { placeCall } from "./voice.ts";

const PUBLIC_API = "https://api.twilio.com";

/** A number as the telephone network writes it (E.164). */
const phone = text(16, 1).regex(/^\+[1-9]\d{6,14}$/, {
  error: "must be a number with its country's code, like +491701234567",
});

export const twilioGateway = gatewayKind({
  kind: "twilio",
  about: "a Twilio account, for texts and calls",
  fields: z.strictObject({
    account_sid: text(34)
      .regex(/^AC[0-9a-f]{32}$/i, { error: "must be AC and 32 hex characters" })
      .meta({ description: "the account's SID" }),
    auth_token: text(64, 1).meta({
      description: "the account's token, which signs what Twilio calls back with",
    }),
    api_key: text(34).optional().meta({ description: "an API key to log in with instead" }),
    api_secret: text(128).optional().meta({ description: "its secret" }),
    from: phone.optional().meta({ description: "the number that texts and calls come from" }),
    messaging_service_sid: text(34)
      .optional()
      .meta({ description: "a messaging service for texts, in place of one number" }),
    url: text(2048).optional().meta({ description: "a region's address" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["auth_token", "api_key", "api_secret"] },
  // The login, the account, the number or the service that it comes from.
  refuses:
    /^http 401\b|: code (20003|20005|20404|21210|21212|21213|21603|21606|21659|21660|21703|30002)$/,
  open: ["account_sid", "from", "messaging_service_sid"],
  async prove({ gateway, egress, now }) {
    const { url = "", account_sid: sid, auth_token: token, api_key: key, api_secret } = gateway;
    const ask = (
      path: string,
      login: string,
      isYes: (answer: Record<string, unknown>) => boolean,
    ) =>
      lookAt(
        { egress, now },
        {
          url: under(url || PUBLIC_API, `/2010-04-01/Accounts/${sid}${path}`),
          headers: { Authorization: `Basic ${Buffer.from(login).toString("base64")}` },
          isYes,
        },
      );
    const asked = await ask(".json", `${sid}:${token}`, ({ status }) => status === "active");
    if (asked.verdict.kind !== "delivered" || !key || !api_secret) return asked;
    // A key may send and read messages, and nothing of the account itself.
    const path = "/Messages.json?PageSize=1";
    return ask(path, `${key}:${api_secret}`, ({ messages }) => Array.isArray(messages));
  },
});

/** Where Twilio calls back, where it can reach the box. */
const CALLBACKS = "/v1/in/twilio";

export const smsContact = contactKind({
  kind: "sms",
  about: "a phone that gets texts",
  gateway: "twilio",
  served: twilioGateway.fields,
  fields: z.strictObject({ address: phone.meta({ description: "its number" }) }),
  shown: ({ address }) => masked(address),
  gapMs: 30_000,
  // Its owner texted STOP.
  gone: /: code 21610$/,
  send: ({ gateway, fields, message, egress, now, publicUrl, whose, since }) =>
    sendSms(
      { egress, now },
      {
        gateway,
        to: fields.address,
        message,
        statusUrl: publicUrl === null ? null : `${publicUrl}${CALLBACKS}${whose}/status`,
        takesReplies: publicUrl !== null && gateway.from !== undefined,
        ...(since !== null && { since }),
      },
    ),
});

export const voiceContact = contactKind({
  kind: "voice",
  about: "a phone that is called",
  gateway: "twilio",
  served: twilioGateway.fields,
  fields: z.strictObject({ address: phone.meta({ description: "its number" }) }),
  shown: ({ address }) => masked(address),
  gapMs: 90_000,
  restSeconds: 120,
  send: ({ gateway, fields, message, egress, now, publicUrl, whose, since }) =>
    placeCall(
      { egress, now },
      {
        gateway,
        to: fields.address,
        message,
        statusUrl: publicUrl === null ? null : `${publicUrl}${CALLBACKS}${whose}/status`,
        keysUrl:
          publicUrl === null || message.ack === null
            ? null
            : `${publicUrl}${CALLBACKS}${whose}/voice/${message.ack.handle}`,
        ...(since !== null && { since }),
      },
    ),
});
