import type { ServerResponse } from "node:http";
import { jsonOf } from "./chats.ts";
import type { Behaviour } from "./receiver.ts";

export const BOT_TOKEN = "123456:canary-AAE_token";

interface Update {
  update_id: number;
  [what: string]: unknown;
}

interface Sent {
  chat_id: string;
  text: string;
  reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
}

/** The Bot API as one bot's box meets it: updates that are held until something happens, chats, buttons, answers. */
export interface TelegramBot {
  behaviour: Behaviour;
  /** Messages by their ids, as they are now. */
  messages: Map<number, Sent>;
  /** What pressers were told, by the press's id. */
  answered: Map<string, { text: string; show_alert: boolean }>;
  /** The offset of each look so far; null: none was given. */
  looks: (number | null)[];
  /** Whether a look is held open now. */
  isHeard(): boolean;
  /** Somebody presses a button of a message, or sends `data` in its place. The press's id. */
  press(from: number, message: number, data?: string): string;
  write(chat: number, text: string): void;
  /** Another program asks for the same updates: whoever waits is sent away. */
  takeOver(): void;
  /** The token is worth nothing from now on, or again. */
  revoke(isRevoked?: boolean): void;
  /** The next look's answer never arrives, whatever it holds. */
  loseNext(): void;
  /** The button of a message whose label begins so. */
  button(message: number, label: string): string;
}

export function telegramBot(): TelegramBot {
  const messages: TelegramBot["messages"] = new Map();
  const answered: TelegramBot["answered"] = new Map();
  const looks: TelegramBot["looks"] = [];
  let updates: Update[] = [];
  let last = 700;
  let held: { response: ServerResponse; limit: number } | null = null;
  let isRevoked = false;
  let losesNext = false;

  const say = (response: ServerResponse, status: number, body: object) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ ok: status === 200, ...body }));
  const refuse = (response: ServerResponse, status: number, description: string) =>
    say(response, status, { error_code: status, description });
  const CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot";
  const sendAway = () => {
    if (held !== null) refuse(held.response, 409, CONFLICT);
    held = null;
  };
  const hand = () => {
    if (held === null || updates.length === 0) return;
    const { response, limit } = held;
    held = null;
    if (losesNext) {
      losesNext = false;
      return void response.socket?.destroy();
    }
    say(response, 200, { result: updates.slice(0, limit) });
  };
  const happens = (what: object) => {
    updates.push({ update_id: ++last, ...what });
    hand();
  };

  const methods: Record<string, (sent: never, response: ServerResponse) => void> = {
    getMe: (_, response) => say(response, 200, { result: { id: 123456, is_bot: true } }),
    getUpdates(
      sent: { offset?: number; limit: number; timeout: number; allowed_updates: string[] },
      response,
    ) {
      looks.push(sent.offset ?? null);
      const { offset } = sent;
      if (offset !== undefined) updates = updates.filter((one) => one.update_id >= offset);
      sendAway();
      held = { response, limit: sent.limit };
      response.on("close", () => {
        if (held?.response === response) held = null;
      });
      hand();
    },
    sendMessage(sent: Sent, response) {
      const id = 88 + messages.size;
      messages.set(id, sent);
      say(response, 200, { result: { message_id: id, chat: { id: Number(sent.chat_id) } } });
    },
    editMessageText(sent: Sent & { message_id: number }, response) {
      messages.set(sent.message_id, sent);
      say(response, 200, { result: { message_id: sent.message_id } });
    },
    editMessageReplyMarkup(sent: Sent & { message_id: number }, response) {
      const before = messages.get(sent.message_id);
      if (before !== undefined) messages.set(sent.message_id, { ...before, ...sent });
      say(response, 200, { result: true });
    },
    answerCallbackQuery(
      sent: { callback_query_id: string; text: string; show_alert: boolean },
      response,
    ) {
      if ([...sent.text].length > 200) return refuse(response, 400, "MESSAGE_TOO_LONG");
      answered.set(sent.callback_query_id, { text: sent.text, show_alert: sent.show_alert });
      say(response, 200, { result: true });
    },
  };

  const behaviour: Behaviour = (response, _socket, request) => {
    const called = new RegExp(`^/bot${BOT_TOKEN}/(\\w+)$`).exec(request.path)?.[1] ?? "";
    if (isRevoked || methods[called] === undefined) return refuse(response, 401, "Unauthorized");
    methods[called]((jsonOf(request) ?? {}) as never, response);
  };

  return {
    behaviour,
    messages,
    answered,
    looks,
    isHeard: () => held !== null,
    press(from, message, data) {
      const chat = Number(messages.get(message)?.chat_id);
      const id = `press${last}`;
      const pressed = data ?? messages.get(message)?.reply_markup?.inline_keyboard[0]?.[0];
      happens({
        callback_query: {
          id,
          from: { id: from, is_bot: false, first_name: "canary" },
          message: { message_id: message, chat: { id: chat, type: "private" } },
          chat_instance: "1",
          data: data ?? Object(pressed).callback_data,
        },
      });
      return id;
    },
    write: (chat, text) =>
      happens({ message: { message_id: 5, chat: { id: chat, type: "private" }, text } }),
    takeOver: sendAway,
    revoke(revoked = true) {
      isRevoked = revoked;
      if (revoked && held !== null) refuse(held.response, 401, "Unauthorized");
      if (revoked) held = null;
    },
    loseNext() {
      losesNext = true;
    },
    button(message, label) {
      const keys = messages.get(message)?.reply_markup?.inline_keyboard.flat() ?? [];
      return keys.find(({ text }) => text.startsWith(label))?.callback_data ?? "";
    },
  };
}
