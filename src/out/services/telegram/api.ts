import { cut } from "../../../ground/kit/text.ts";
import { mask, SHORTEST_SECRET } from "../../outbox/mask.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import {
  type Answer,
  type Answered,
  askedWait,
  objectIn,
  postJson,
  saying,
  under,
} from "../post.ts";

/** Where the bots of whoever names no server are. */
export const TELEGRAM_API = "https://api.telegram.org";

/** A message's most, in UTF-16 units. */
export const LONGEST_TELEGRAM = 4_096;

/** What Telegram's refusals mean, by what it says or by its number; after any other another attempt may get through. */
export const telegramRefusals = {
  /** The token is none; 404 is said of one of another form. */
  token: /^http (401|404)\b/,
  /** The person is gone there. */
  gone: /bot was blocked by the user|user is deactivated/,
  /** No other attempt of this message: the person blocked the bot or never spoke to it, or the message is gone. */
  forGood:
    /^Forbidden: |chat not found|user is deactivated|message (to edit )?(not found|can't be edited)/,
};

export interface TelegramBot {
  /** `https://api.telegram.org` or a server of one's own. */
  apiUrl: string;
  token: string;
}

/** A bot, and the chat that it is to speak in. */
export interface TelegramChat extends TelegramBot {
  chatId: string;
}

/** A method, and what it takes beside the chat. */
export interface BotCall {
  method: string;
  body: Readonly<Record<string, unknown>>;
}

/** How a call went. `chatId`: the group became a supergroup with this id, which is to be stored. */
export type TelegramSent = Answered & { chatId?: string };

const DEFAULT_TIMEOUT_MS = 10_000;

/** Calls a method for a chat; a group that moved is followed at once, within the same time limit. */
export async function callBot(
  via: Via,
  { chatId, ...bot }: TelegramChat,
  { method, body }: BotCall,
): Promise<TelegramSent> {
  const say = (now: Via, chat: string) =>
    askBot(now, bot, {
      method,
      body: { chat_id: chat, ...body, link_preview_options: { is_disabled: true } },
    });
  const first = await say(via, chatId);
  const moved = movedTo(first);
  if (moved === null) return first;
  const left = Math.max(1, (via.timeoutMs ?? DEFAULT_TIMEOUT_MS) - first.durationMs);
  const second = await say({ ...via, timeoutMs: left }, moved);
  return { ...second, durationMs: first.durationMs + second.durationMs, chatId: moved };
}

/** The supergroup that a group has become; null where the chat is what it was. */
export function movedTo({ verdict, answer }: Answered): string | null {
  const { migrate_to_chat_id: id } = objectIn(answer["parameters"]);
  return verdict.kind === "later" && Number.isSafeInteger(id) ? String(id) : null;
}

/** Calls a method. The token stands in the URL and the chat may be echoed, so no error holds either. */
export async function askBot(via: Via, bot: TelegramBot, call: BotCall): Promise<Answered> {
  const answered = await postBot(via, bot, call);
  const secrets = [bot.token, call.body["chat_id"]].filter(
    (secret) => typeof secret === "string" && secret.length >= SHORTEST_SECRET,
  );
  const said = mask(descriptionIn(answered.answer), secrets as string[], false);
  return saying(answered, cut(said.replace(/\s+/g, " "), 200));
}

/** The same, with none of Telegram's words in the error. */
export async function postBot(
  via: Via,
  bot: TelegramBot,
  { method, body, maxBytes }: BotCall & { maxBytes?: number },
): Promise<Answered> {
  const answered = await postJson(via, botMethodUrl(bot, method), {
    body,
    why: () => "",
    ...(maxBytes !== undefined && { maxBytes }),
  });
  return askedWait(answered, objectIn(answered.answer["parameters"])["retry_after"], 1_000);
}

/** What Telegram says of a refusal, for who calls; it may hold what was sent. */
export function descriptionIn({ description }: Answer): string {
  return typeof description === "string" ? description : "";
}

/** Where a method of a bot is called. The token stands in it, so it is for no error and no log. */
export function botMethodUrl({ apiUrl, token }: TelegramBot, method: string): string {
  const bot = encodeURIComponent(token).replaceAll("%3A", ":");
  return under(apiUrl, `/bot${bot}/${method}`);
}
