import * as z from "zod";
import { type ContactAttempt, contactKind, gatewayKind } from "../contact-kind.ts";
import { type Answer, lookAt } from "../post.ts";
import {
  accountUrl,
  phone,
  type TwilioGateway,
  twilioAccount,
  twilioLogin,
  twilioRefusals,
} from "./api.ts";
import { sendSms } from "./sms.ts";
import { placeCall } from "./voice.ts";

const twilioGateway = gatewayKind({
  kind: "twilio",
  about: "a Twilio account, for texts and calls",
  fields: twilioAccount,
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["auth_token", "api_key", "api_secret"] },
  refuses: twilioRefusals.settings,
  open: ["account_sid", "from", "messaging_service_sid"],
  async prove({ gateway, egress, now }) {
    const { account_sid: sid, auth_token: token, api_key: key, api_secret: secret } = gateway;
    const ask = (
      path: string,
      headers: Record<string, string>,
      isYes: (answer: Answer) => boolean,
    ) => lookAt({ egress, now }, { url: accountUrl(gateway, path), headers, isYes });
    const isActive = ({ status }: Answer) => status === "active";
    const asked = await ask(".json", twilioLogin(sid, token), isActive);
    if (asked.verdict.kind !== "delivered" || !key || !secret) return asked;
    // A key may send and read messages, and nothing of the account itself.
    const isList = ({ messages }: Answer) => Array.isArray(messages);
    return ask("/Messages.json?PageSize=1", twilioLogin(key, secret), isList);
  },
});

/** What a text and a call have in common: whom it goes to, and where Twilio calls back, where it can reach the box. */
function orderOf({ gateway, fields, message, publicUrl, whose, since }: PhoneAttempt) {
  const callbacks = publicUrl === null ? null : `${publicUrl}/v1/in/twilio${whose}`;
  return {
    gateway,
    to: fields.address,
    message,
    statusUrl: callbacks === null ? null : `${callbacks}/status`,
    keysUrl:
      callbacks === null || message.ack === null
        ? null
        : `${callbacks}/voice/${message.ack.handle}`,
    ...(since !== null && { since }),
  };
}

type PhoneAttempt = ContactAttempt<TwilioGateway, { address: string }>;

/** A text or a call to a phone. */
const phoneNumber = {
  gateway: twilioGateway,
  fields: z.strictObject({ address: phone.meta({ description: "its number" }) }),
} as const;

export const smsContact = contactKind({
  kind: "sms",
  about: "a phone that gets texts",
  ...phoneNumber,
  gapMs: 30_000,
  gone: twilioRefusals.gone,
  send: (attempt) => {
    const takesReplies = attempt.publicUrl !== null && attempt.gateway.from !== undefined;
    return sendSms(attempt, { ...orderOf(attempt), takesReplies });
  },
});

export const voiceContact = contactKind({
  kind: "voice",
  about: "a phone that is called",
  ...phoneNumber,
  gapMs: 90_000,
  restSeconds: 120,
  send: (attempt) => placeCall(attempt, orderOf(attempt)),
});
