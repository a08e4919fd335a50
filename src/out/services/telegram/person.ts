import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, type DirectAttempt, gatewayKind } from "../contact-kind.ts";
import { type DirectMessage, type DirectSent, directText, withRef } from "../direct-message.ts";
import { type Answer, lookAt, objectIn, refusedFor, unlessTaken } from "../post.ts";
import { shortened } from "../texts.ts";
import {
  type BotCall,
  botMethodUrl,
  callBot,
  descriptionIn,
  LONGEST_TELEGRAM,
  movedTo,
  TELEGRAM_API,
  type TelegramBot,
  telegramRefusals,
} from "./api.ts";

/** The tenant's bot. */
const bot = z.strictObject({
  token: text(128, 1).meta({ description: "the bot's token, from @BotFather" }),
  url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
});
export type TelegramGateway = z.output<typeof bot>;

const telegramGateway = gatewayKind({
  kind: "telegram",
  about: "a Telegram bot; its buttons work behind a firewall, because the box polls Telegram",
  fields: bot,
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["token"] },
  refuses: telegramRefusals.token,
  prove: ({ gateway, egress, now }) =>
    lookAt(
      { egress, now },
      { url: botMethodUrl(botOf(gateway), "getMe"), isYes: ({ ok }) => ok === true },
    ),
});

export function botOf({ token, url = "" }: TelegramGateway): TelegramBot {
  return { apiUrl: url || TELEGRAM_API, token };
}

export const telegramContact = contactKind({
  kind: "telegram",
  about: "a chat with the box's bot",
  gateway: telegramGateway,
  fields: z.strictObject({
    address: text(32, 1)
      .regex(/^-?\d{1,20}$/, { error: "must be a chat's id, a number" })
      .meta({ description: "the chat's id: write /start to the bot, it says it" }),
  }),
  gone: telegramRefusals.gone,
  notes: true,
  send: sendTelegramDirect,
  edit: editTelegramDirect,
});

type Attempt = DirectAttempt<TelegramGateway>;

/**
 * Sends a message, a page with buttons whose data is `ack:HANDLE` and `resolve:HANDLE`. `ref` is its id; `learned` holds
 * the chat's new `address` where it moved.
 */
export async function sendTelegramDirect(attempt: Attempt): Promise<DirectSent> {
  const { message } = attempt;
  const { ack } = message;
  const sent = await call(attempt, {
    method: "sendMessage",
    body: {
      text: textOf(message),
      ...(message.purpose === "note" && { disable_notification: true }),
      ...(ack !== null && { reply_markup: { inline_keyboard: [buttons(ack.handle)] } }),
    },
  });
  const told = withRef(sent, String(messageIn(sent.answer) ?? ""));
  const address = sent.chatId ?? movedTo(sent);
  return address === null ? told : { ...told, learned: { address } };
}

/** Says `message` in place of the one called `ref`, and takes its buttons away. */
export async function editTelegramDirect(attempt: Attempt, ref: string): Promise<DirectSent> {
  const { verdict, answer } = await call(attempt, {
    method: "editMessageText",
    body: {
      message_id: Number(ref),
      text: textOf(attempt.message),
      reply_markup: { inline_keyboard: [] },
    },
  });
  // An attempt before this one did it.
  const isDone = /message is not modified/.test(descriptionIn(answer));
  return { verdict: isDone ? { kind: "delivered", status: 200 } : verdict };
}

/** What names no message may be anybody's page. */
async function call(attempt: Attempt, what: BotCall) {
  const { gateway, fields } = attempt;
  const sent = await callBot(attempt, { ...botOf(gateway), chatId: fields.address }, what);
  const taken = unlessTaken(sent, (answer) => messageIn(answer) !== undefined);
  const isForGood = (answer: Answer) => telegramRefusals.forGood.test(descriptionIn(answer));
  return refusedFor(taken, isForGood);
}

function messageIn({ result }: Answer): number | undefined {
  const { message_id: id } = objectIn(result);
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}

/** Links stand in the text: an address that Telegram doesn't like on a button would cost the whole message. */
function textOf(message: DirectMessage): string {
  const { ack } = message;
  const link = ack?.url ?? message.link;
  const end = link === null ? "" : `\n${link}`;
  const room = LONGEST_TELEGRAM - end.length;
  const whole = directText({ ...message, link: null });
  return room < LONGEST_TELEGRAM / 2
    ? shortened(whole, LONGEST_TELEGRAM)
    : shortened(whole, room) + end;
}

/** Data has 64 bytes at most. */
function buttons(handle: string): object[] {
  return [
    { text: "Acknowledge", callback_data: `ack:${handle}` },
    { text: "Resolve", callback_data: `resolve:${handle}` },
  ];
}
