import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { webUrl } from "../../../ground/kit/flags.ts";
import type { Message } from "../../outbox/message.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import { plainWithin, takenFor } from "../texts.ts";
import {
  callBot,
  LONGEST_TELEGRAM,
  TELEGRAM_API,
  type TelegramChat,
  type TelegramSent,
} from "./api.ts";

export const telegram = channel({
  kind: "telegram",
  about: "a Telegram chat",
  isChat: true,
  fields: z.strictObject({
    token: text(256).meta({ description: "the bot's token" }),
    chat_id: text(128).meta({ description: "the chat's id" }),
  }),
  // Options both, because the ids of groups begin with a dash.
  flags: { token: "--token <token>", chat_id: "--chat <id>" },
  settings: {
    telegramApi: {
      flag: "--telegram-api <url>",
      about: "Telegram Bot API (default the public one)",
      usual: TELEGRAM_API,
      read: webUrl,
    },
  },
  async send({ credentials, event, words, egress, now, settings, host }) {
    const { token, chat_id: chatId } = credentials;
    const alertId = host.hears?.({ kind: "telegram", token }) ? takenFor(event) : null;
    const request = { apiUrl: settings.telegramApi, token, chatId, words, alertId };
    const { chatId: movedTo, ...sent } = await sendTelegram({ egress, now }, request);
    return movedTo === undefined ? sent : { ...sent, learned: { chat_id: movedTo } };
  },
});

/** One attempt at one Telegram chat. */
type TelegramRequest = TelegramChat & {
  words: Message;
  /** The alert that a button takes; none where presses aren't heard. */
  alertId?: string | null;
};

/** Sends the event as plain text. A button's data is `ack@` and the alert's number. */
export function sendTelegram(
  via: Via,
  { words, alertId = null, ...chat }: TelegramRequest,
): Promise<TelegramSent> {
  const button = { text: "Acknowledge", callback_data: `ack@${alertId}` };
  return callBot(via, chat, {
    method: "sendMessage",
    body: {
      text: telegramText(words),
      ...(alertId !== null && { reply_markup: { inline_keyboard: [[button]] } }),
    },
  });
}

/** The message within Telegram's limit. No markup, so nothing to escape. */
export function telegramText(words: Message): string {
  return plainWithin(words, LONGEST_TELEGRAM);
}
