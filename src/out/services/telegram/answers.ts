import type { Via } from "../../outbox/senders/sent.ts";
import { type Answer, objectIn } from "../post.ts";
import { askBot, descriptionIn, postBot, telegramRefusals } from "./api.ts";
import { botOf, type TelegramGateway } from "./person.ts";

/** Somebody pressed a button of the bot's. */
export interface TelegramPress {
  /** What Telegram calls the press, for the answer. */
  id: string;
  /** The presser's id, which is also that of their own chat with the bot. */
  from: string;
  /** The chat and the message that the button stands in; null where it is too old to be shown. */
  at: { chat: string; message: number } | null;
  /** As it came: whoever sees a button can send anything in its place. */
  data: string;
}

/** Somebody wrote to the bot. */
export interface TelegramWords {
  chat: string;
  isPrivate: boolean;
  text: string;
}

/** One thing that happened; both null: nothing for a box. Ids rise. */
export interface TelegramUpdate {
  id: number;
  press: TelegramPress | null;
  words: TelegramWords | null;
}

/** What one look found. */
export type TelegramLook =
  | { updates: TelegramUpdate[] }
  /** `why`: `refused` for a token that is none, `taken` where another program listens, `stopped` where this side gave up. */
  | { why: "refused" | "taken" | "stopped" | "failed"; error: string; retryAfterMs?: number };

/** How long Telegram holds a look open while nothing happens, in seconds; and what the way may take beside. */
const HELD_SECONDS = 50;
const BESIDE_MS = 15_000;
/** A text of 4,096 characters with a hundred long links, and the one that it replies to, are half of a megabyte. */
const MOST_UPDATES = 10;
const MOST_BYTES = 8_388_608;

/**
 * Waits for what happens next, at most a minute. `offset`: the first update that is wanted; those before it are forgotten
 * at Telegram, which keeps the others for a day. null: whatever is there.
 */
export async function readTelegramUpdates(
  via: Via,
  gateway: TelegramGateway,
  offset: number | null,
): Promise<TelegramLook> {
  const { verdict, answer } = await postBot(
    { ...via, timeoutMs: HELD_SECONDS * 1_000 + BESIDE_MS },
    botOf(gateway),
    {
      method: "getUpdates",
      body: {
        ...(offset !== null && { offset }),
        timeout: HELD_SECONDS,
        limit: MOST_UPDATES,
        allowed_updates: ["callback_query", "message"],
      },
      maxBytes: MOST_BYTES,
    },
  );
  if (verdict.kind === "delivered") {
    const { ok, result: updates } = answer;
    if (ok === true && Array.isArray(updates)) return { updates: updates.flatMap(updateIn) };
    return { why: "failed", error: `http ${verdict.status}` };
  }
  const { error } = verdict;
  if (error === "stopped") return { why: "stopped", error };
  if (telegramRefusals.token.test(error))
    return { why: "refused", error: "Telegram doesn't know the bot's token any more" };
  if (/^http 409\b/.test(error)) return { why: "taken", error: takenBy(descriptionIn(answer)) };
  const retryAfterMs = verdict.kind === "later" ? verdict.retryAfterMs : undefined;
  return { why: "failed", error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function takenBy(description: string): string {
  return /webhook/i.test(description)
    ? "the bot has a webhook set: delete it, or take another bot"
    : "another program reads the bot's answers: a bot can have one box";
}

/** Ends the wait at a pressed button with a text of at most 200 characters; `alert`: it must be seen. */
export async function answerTelegramPress(
  via: Via,
  gateway: TelegramGateway,
  { id, text, alert }: { id: string; text: string; alert: boolean },
): Promise<void> {
  await askBot(via, botOf(gateway), {
    method: "answerCallbackQuery",
    body: { callback_query_id: id, text: [...text].slice(0, 190).join(""), show_alert: alert },
  });
}

/** Takes the buttons of a message away. */
export async function dropTelegramButtons(
  via: Via,
  gateway: TelegramGateway,
  { chat, message }: { chat: string; message: number },
): Promise<void> {
  await askBot(via, botOf(gateway), {
    method: "editMessageReplyMarkup",
    body: { chat_id: chat, message_id: message, reply_markup: { inline_keyboard: [] } },
  });
}

/** Writes a plain sentence into a chat. */
export async function tellTelegram(
  via: Via,
  gateway: TelegramGateway,
  { chat, text }: { chat: string; text: string },
): Promise<void> {
  await askBot(via, botOf(gateway), { method: "sendMessage", body: { chat_id: chat, text } });
}

/** What isn't as documented counts as nothing; without an id it can't even be passed over. */
function updateIn(value: unknown): TelegramUpdate[] {
  const { update_id: id, callback_query: press, message } = objectIn(value);
  if (!Number.isSafeInteger(id)) return [];
  return [{ id: id as number, press: pressIn(objectIn(press)), words: wordsIn(objectIn(message)) }];
}

function pressIn({ id, from, message, data }: Answer): TelegramPress | null {
  const presser = idIn(from);
  if (typeof id !== "string" || presser === null || typeof data !== "string") return null;
  const { chat, message_id: at } = objectIn(message);
  const where = idIn(chat);
  const isShown = where !== null && Number.isSafeInteger(at);
  return {
    id,
    from: presser,
    data,
    at: isShown ? { chat: where, message: at as number } : null,
  };
}

function wordsIn({ chat, text }: Answer): TelegramWords | null {
  const where = idIn(chat);
  if (where === null || typeof text !== "string") return null;
  return { chat: where, isPrivate: objectIn(chat)["type"] === "private", text };
}

function idIn(value: unknown): string | null {
  const { id } = objectIn(value);
  return Number.isSafeInteger(id) ? String(id) : null;
}
