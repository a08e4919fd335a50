import { httpError, type Via } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, directText, withRef } from "../direct-message.ts";
import { shortened } from "../room.ts";
import { type BotCall, callBot, type TelegramSent } from "./api.ts";
import { LONGEST_TELEGRAM } from "./room.ts";

/** The tenant's bot. */
export interface TelegramGateway {
  token: string;
  /** A server of one's own; empty: the public one. */
  url?: string | undefined;
}

/** One attempt at one person's chat with the bot. */
export interface TelegramDirect {
  gateway: TelegramGateway;
  /** The chat's id. */
  address: string;
  message: DirectMessage;
}

/** Where the bots of whoever names no server are. */
export const TELEGRAM_API = "https://api.telegram.org";

/**
 * Sends a message, a page with buttons whose data is `ack:HANDLE` and `resolve:HANDLE`. `ref` is its id; `learned` holds
 * the chat's new `address` where it moved.
 */
export async function sendTelegramDirect(via: Via, request: TelegramDirect): Promise<DirectSent> {
  const { message } = request;
  const { ack } = message;
  const sent = await call(via, request, {
    method: "sendMessage",
    body: {
      text: textOf(message),
      ...(message.purpose === "note" && { disable_notification: true }),
      ...(ack !== null && { reply_markup: { inline_keyboard: [buttons(ack.handle)] } }),
    },
  });
  const { messageId, movedTo } = sent.answer;
  const told = withRef(judged(sent), messageId === undefined ? "" : String(messageId));
  const address = sent.chatId ?? (movedTo === undefined ? undefined : String(movedTo));
  return address === undefined ? told : { ...told, learned: { address } };
}

/** Says `message` in place of the one called `ref`, and takes its buttons away. */
export async function editTelegramDirect(
  via: Via,
  request: TelegramDirect,
  ref: string,
): Promise<DirectSent> {
  const sent = await call(via, request, {
    method: "editMessageText",
    body: {
      message_id: Number(ref),
      text: textOf(request.message),
      reply_markup: { inline_keyboard: [] },
    },
  });
  // An attempt before this one did it.
  if (/message is not modified/.test(sent.answer.description))
    return { verdict: { kind: "delivered", status: 200 } };
  return { verdict: judged(sent).verdict };
}

function call(via: Via, { gateway, address }: TelegramDirect, what: BotCall) {
  const { token, url = "" } = gateway;
  return callBot(via, { apiUrl: url || TELEGRAM_API, token, chatId: address }, what);
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

/** The person blocked the bot or never spoke to it, or the message is gone. */
const FOR_GOOD =
  /^Forbidden: |chat not found|user is deactivated|message (to edit )?(not found|can't be edited)/;

function judged(sent: TelegramSent): TelegramSent {
  const { verdict, answer } = sent;
  // Somebody else's page: it named no message.
  if (verdict.kind === "delivered" && answer.messageId === undefined)
    return {
      ...sent,
      verdict: { kind: "later", error: httpError(verdict.status, "not accepted") },
    };
  if (verdict.kind !== "later" || !FOR_GOOD.test(answer.description)) return sent;
  return { ...sent, verdict: { kind: "never", error: verdict.error } };
}
