import type { EgressResult } from "../../../ground/kit/exchange.ts";
import { cut } from "../../../ground/kit/text.ts";
import { mask, SHORTEST_SECRET } from "../../outbox/mask.ts";
import { clampRetryAfter } from "../../outbox/retry.ts";
import {
  limitsOf,
  type Posted,
  serverTime,
  type Via,
  verdictOf,
} from "../../outbox/senders/sent.ts";

/** A bot, and the chat that it is to speak in. */
export interface TelegramChat {
  /** `https://api.telegram.org` or a server of one's own. */
  apiUrl: string;
  token: string;
  chatId: string;
}

/** How a call went. `chatId`: the group became a supergroup with this id, which is to be stored. */
export type TelegramSent = Posted & {
  chatId?: string;
  /** What Telegram says of itself, for who calls; it may hold what was sent. */
  answer: TelegramAnswer;
};

/** What counts in an answer of the Bot API (core.telegram.org/bots/api, Making requests, ResponseParameters). */
export interface TelegramAnswer {
  description: string;
  retryAfterSeconds: number | undefined;
  movedTo: number | undefined;
  /** Of a message that was sent. */
  messageId: number | undefined;
}

/** A method, and what it takes beside the chat. */
export interface BotCall {
  method: "sendMessage" | "editMessageText";
  body: object;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** An answer repeats the message, written in escapes of six bytes. */
const MOST_BYTES = 65_536;

/**
 * Calls a method for a chat; a group that moved is followed at once, within the same time limit. The token stands in
 * the URL, so no error holds either.
 */
export async function callBot(via: Via, chat: TelegramChat, call: BotCall): Promise<TelegramSent> {
  const first = await post(via, chat, call);
  const { movedTo } = readAnswer(first);
  if (first.status !== 400 || movedTo === undefined) return sent(first, via.now, chat);
  const chatId = String(movedTo);
  const left = Math.max(1, (via.timeoutMs ?? DEFAULT_TIMEOUT_MS) - first.durationMs);
  const second = await post({ ...via, timeoutMs: left }, { ...chat, chatId }, call);
  const outcome = sent(second, via.now, { ...chat, chatId });
  return { ...outcome, durationMs: first.durationMs + second.durationMs, chatId };
}

/** Where a method of a bot is called. The token stands in it, so it is for no error and no log. */
export function botMethodUrl(
  { apiUrl, token }: Omit<TelegramChat, "chatId">,
  method: string,
): string {
  const bot = encodeURIComponent(token).replaceAll("%3A", ":");
  return `${apiUrl.replace(/\/+$/, "")}/bot${bot}/${method}`;
}

function post(via: Via, { chatId, ...bot }: TelegramChat, { method, body }: BotCall) {
  return via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: botMethodUrl(bot, method),
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      chat_id: chatId,
      ...body,
      link_preview_options: { is_disabled: true },
    }),
    maxBytes: MOST_BYTES,
  });
}

function sent(result: EgressResult, now: number, { token, chatId }: TelegramChat): TelegramSent {
  const answer = readAnswer(result);
  const { description, retryAfterSeconds } = answer;
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
    answer,
  };
}

/** What isn't as documented counts as not there. */
function readAnswer(answered: EgressResult): TelegramAnswer {
  const { description, parameters, result } = fieldsOf(parsed(answered.body));
  const { retry_after: seconds, migrate_to_chat_id: chat } = fieldsOf(parameters);
  const { message_id: message } = fieldsOf(result);
  return {
    description: typeof description === "string" ? description : "",
    retryAfterSeconds: Number.isFinite(seconds) ? (seconds as number) : undefined,
    movedTo: Number.isSafeInteger(chat) ? (chat as number) : undefined,
    messageId: Number.isSafeInteger(message) ? (message as number) : undefined,
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
