import { z } from "zod";
import type { EgressResult } from "../kit/exchange.ts";
import { text } from "../kit/fields.ts";
import { webUrl } from "../kit/flags.ts";
import { cut } from "../kit/text.ts";
import { mask, SHORTEST_SECRET } from "../outbox/mask.ts";
import { type Message, plainText } from "../outbox/message.ts";
import { clampRetryAfter } from "../outbox/retry.ts";
import { limitsOf, type Posted, serverTime, type Via, verdictOf } from "../outbox/senders/sent.ts";
import { channel } from "./channel.ts";

export const telegram = channel({
  kind: "telegram",
  about: "a Telegram chat",
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
      usual: "https://api.telegram.org",
      read: webUrl,
    },
  },
  async send({ credentials, words, egress, now, settings }) {
    const { token, chat_id: chatId } = credentials;
    const request = { apiUrl: settings.telegramApi, token, chatId, words };
    const { chatId: movedTo, ...sent } = await sendTelegram({ egress, now }, request);
    return movedTo === undefined ? sent : { ...sent, learned: { chat_id: movedTo } };
  },
});

/** One attempt at one Telegram chat. */
export interface TelegramRequest {
  /** `https://api.telegram.org` or a server of one's own. */
  apiUrl: string;
  token: string;
  chatId: string;
  words: Message;
}

/** `chatId`: the group became a supergroup with this id, which is to be stored. */
export type TelegramSent = Posted & { chatId?: string };

const LONGEST_TEXT = 4_096;
const DEFAULT_TIMEOUT_MS = 10_000;

/** What counts in an answer of the Bot API (core.telegram.org/bots/api, Making requests, ResponseParameters). */
interface Answer {
  description: string;
  retryAfterSeconds: number | undefined;
  movedTo: number | undefined;
}

/**
 * Sends the event as plain text; a group that moved is followed at once, within the same time limit.
 * The token stands in the URL, so no error holds either.
 */
export async function sendTelegram(via: Via, request: TelegramRequest): Promise<TelegramSent> {
  const first = await post(via, request);
  const movedTo = readAnswer(first).movedTo;
  if (first.status !== 400 || movedTo === undefined) return sent(first, via.now, request);
  const chatId = String(movedTo);
  const left = Math.max(1, (via.timeoutMs ?? DEFAULT_TIMEOUT_MS) - first.durationMs);
  const second = await post({ ...via, timeoutMs: left }, { ...request, chatId });
  const outcome = sent(second, via.now, { ...request, chatId });
  return { ...outcome, durationMs: first.durationMs + second.durationMs, chatId };
}

function post(via: Via, { apiUrl, token, chatId, words }: TelegramRequest) {
  const bot = encodeURIComponent(token).replaceAll("%3A", ":");
  return via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: `${apiUrl.replace(/\/+$/, "")}/bot${bot}/sendMessage`,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      chat_id: chatId,
      text: telegramText(words),
      link_preview_options: { is_disabled: true },
    }),
  });
}

/** The message within Telegram's limit, which counts UTF-16 units. No markup, so nothing to escape. */
export function telegramText(words: Message): string {
  const whole = plainText(words);
  if (whole.length <= LONGEST_TEXT) return whole;
  return `${whole.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

function sent(result: EgressResult, now: number, { token, chatId }: TelegramRequest): Posted {
  const { description, retryAfterSeconds } = readAnswer(result);
  const secrets = [token, chatId].filter((secret) => secret.length >= SHORTEST_SECRET);
  const masked = mask(description, secrets, result.truncated);
  const note = cut(masked.replace(/\s+/g, " "), 200);
  const verdict = verdictOf(result, now, note);
  const asked =
    retryAfterSeconds === undefined
      ? {}
      : { retryAfterMs: clampRetryAfter(retryAfterSeconds * 1_000) };
  return {
    verdict: verdict.kind === "later" ? { ...verdict, ...asked } : verdict,
    durationMs: result.durationMs,
    serverTime: serverTime(result),
  };
}

/** What isn't as documented counts as not there. */
function readAnswer(result: EgressResult): Answer {
  const { description, parameters } = fieldsOf(parsed(result.body));
  const { retry_after: seconds, migrate_to_chat_id: chat } = fieldsOf(parameters);
  return {
    description: typeof description === "string" ? description : "",
    retryAfterSeconds: Number.isFinite(seconds) ? (seconds as number) : undefined,
    movedTo: Number.isSafeInteger(chat) ? (chat as number) : undefined,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
