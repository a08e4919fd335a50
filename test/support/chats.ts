import type { ServerResponse } from "node:http";
import type { Behaviour, Received } from "./receiver.ts";

/** Chat services that know who writes, as far as a box meets them. */

type Say = (status: number, body: object, headers?: Record<string, string>) => void;

const saying =
  (response: ServerResponse): Say =>
  (status, body, headers = {}) => {
    const sent = { "content-type": "application/json", ...headers };
    response.writeHead(status, sent).end(JSON.stringify(body));
  };

/** As Slack writes its answers: what isn't ASCII in six characters, and slashes escaped. */
const sayingAsSlack =
  (response: ServerResponse): Say =>
  (status, body, headers = {}) => {
    const sent = { "content-type": "application/json; charset=utf-8", ...headers };
    const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const text = JSON.stringify(body).replaceAll("/", "\\/");
    response.writeHead(status, sent).end(text.replace(/[^\x20-\x7e]/g, code));
  };

/** The JSON object of a request; null where it is none, or isn't said to be. */
export function jsonOf({ headers, body }: Received) {
  if (!headers["content-type"]?.startsWith("application/json")) return null;
  const read = JSON.parse(body.isWellFormed() ? body : "null");
  return typeof read === "object" ? read : null;
}

export const MATRIX_TOKEN = "syt_Ym94_canaryMatrixToken_1a2b3c";
export const MATRIX_ROOM = "!canaryOps:example.org";

/** What a homeserver did: each event once for its transaction, and what it refused. */
export interface Homeserver {
  behaviour: Behaviour;
  /** Events by their ids, in order. */
  events: Map<string, { room: string; content: Record<string, unknown> }>;
  faults: string[];
}

/** A homeserver with one room, or as many as are named, of which the account is a member. */
export function homeserver(rooms: readonly string[] = [MATRIX_ROOM]): Homeserver {
  const events: Homeserver["events"] = new Map();
  const transactions = new Map<string, string>();
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = saying(response);
    const refuse = (status: number, errcode: string) => {
      faults.push(errcode);
      say(status, { errcode, error: `canary ${request.headers["authorization"]}` });
    };
    if (/^(\/hs)?\/_matrix\/client\/v3\/account\/whoami$/.test(request.path))
      return request.headers["authorization"] === `Bearer ${MATRIX_TOKEN}`
        ? say(200, { user_id: "@box:example.org" })
        : refuse(401, "M_UNKNOWN_TOKEN");
    const sent =
      /^(?:\/hs)?\/_matrix\/client\/v3\/rooms\/([^/]+)\/send\/m\.room\.message\/([^/]+)$/.exec(
        request.path,
      );
    if (sent === null || request.method !== "PUT") return refuse(404, "M_UNRECOGNIZED");
    if (request.headers["authorization"] !== `Bearer ${MATRIX_TOKEN}`)
      return refuse(401, "M_UNKNOWN_TOKEN");
    const [room = "", transaction = ""] = sent.slice(1).map(decodeURIComponent);
    if (!rooms.includes(room)) return refuse(403, "M_FORBIDDEN");
    const content = jsonOf(request);
    if (content === null) return refuse(400, "M_NOT_JSON");
    if (Buffer.byteLength(request.body) > 65_000) return refuse(413, "M_TOO_LARGE");
    const { msgtype, body, format, formatted_body: html } = content;
    if (!/^m\.(text|notice)$/.test(msgtype) || typeof body !== "string" || body === "")
      return refuse(400, "M_BAD_JSON");
    if (format !== "org.matrix.custom.html" || typeof html !== "string")
      return refuse(400, "M_BAD_JSON");
    const known = transactions.get(`${room} ${transaction}`);
    const id = known ?? `$event${events.size + 1}`;
    if (known === undefined) events.set(id, { room, content });
    transactions.set(`${room} ${transaction}`, id);
    say(200, { event_id: id });
  };
  return { behaviour, events, faults };
}

/** What a room's text would do beside being read: tags that aren't ours, people it calls. */
export function matrixActs(content: Record<string, unknown>): string[] {
  const ours =
    /<\/?(?:strong|pre|code)>|<br>|<a href="https:\/\/box\.example\/[^"<>]*">|<\/a>|&(?:amp|lt|gt|quot|#39);/g;
  const left = String(content["formatted_body"]).replace(ours, "");
  const called = JSON.stringify(content["m.mentions"]) === "{}" ? [] : ["mentions"];
  return [...(left.match(/[<>&]/g) ?? []), ...called];
}

export const SIGNAL_NUMBER = "+15550001111";

/** signal-cli-rest-api: one number is registered, and errors are sentences that repeat what was sent. */
export function signalServer(): Behaviour {
  return (response, _socket, request) => {
    const say = saying(response);
    if (request.method !== "POST" || !/^(\/signal)?\/v2\/send$/.test(request.path))
      return say(404, { error: "page not found" });
    const { message, number, recipients, text_mode: mode } = jsonOf(request) ?? {};
    if (typeof message !== "string" || message === "" || message.length > 2_000)
      return say(400, { error: "Couldn't process request - invalid request" });
    if (!Array.isArray(recipients) || recipients.length !== 1 || mode !== "normal")
      return say(400, {
        error: "Couldn't process request - please provide at least one recipient",
      });
    if (number !== SIGNAL_NUMBER)
      return say(400, { error: `User ${number} is not registered. canary` });
    if (recipients[0] === "+15550009999")
      return say(400, { error: `Failed to send message: Unregistered user "${recipients[0]}"` });
    say(201, { timestamp: "1795289702123" });
  };
}

export const SLACK_TOKEN = "xoxb-112233-canary-slack-bot-token";
export const SLACK_APP_TOKEN = "xapp-1-canary-slack-app-token";

/** What a workspace did: its messages by channel and time, and what it refused. */
export interface SlackWorkspace {
  behaviour: Behaviour;
  messages: Map<string, Record<string, unknown>>;
  faults: string[];
}

interface SlackBlock {
  type: string;
  text?: { type: string; text: string };
  elements?: { type: string; text?: unknown; action_id?: string; value?: string }[];
}

/** Slack's Web API: 200 whatever happened, words for what it refuses, and messages that can be changed. */
export function slackWorkspace(
  channels: readonly string[] = ["C0OPS"],
  line = "wss://wss-primary.slack.example/link",
): SlackWorkspace {
  const messages: SlackWorkspace["messages"] = new Map();
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = sayingAsSlack(response);
    const refuse = (error: string) => {
      faults.push(error);
      say(200, { ok: false, error, needed: request.headers["authorization"] });
    };
    const { method, headers, path } = request;
    if (path === "/api/apps.connections.open")
      return headers["authorization"] === `Bearer ${SLACK_APP_TOKEN}`
        ? say(200, { ok: true, url: line })
        : refuse("invalid_auth");
    if (path === "/api/auth.test")
      return headers["authorization"] === `Bearer ${SLACK_TOKEN}`
        ? say(200, { ok: true, user_id: "U0BOX" })
        : refuse("invalid_auth");
    const called = /^\/api\/chat\.(postMessage|update)$/.exec(path)?.[1];
    if (method !== "POST" || called === undefined) return refuse("unknown_method");
    if (headers["authorization"] !== `Bearer ${SLACK_TOKEN}`) return refuse("invalid_auth");
    const sent = jsonOf(request);
    if (sent === null) return refuse("invalid_json");
    const { channel, text, blocks = [], ts } = sent;
    const known = called === "update" ? channel.replace(/^D/, "U") : channel;
    if (!channels.includes(known)) return refuse("channel_not_found");
    if (typeof text !== "string" || text === "") return refuse("no_text");
    if (text.length > 4_000) return refuse("msg_too_long");
    if (!areSlackBlocks(blocks)) return refuse("invalid_blocks");
    // A direct message has a channel of its own.
    const place = channel.replace(/^U/, "D");
    const time = called === "update" ? ts : `1795289702.${String(messages.size).padStart(6, "0")}`;
    if (called === "update" && !messages.has(`${channel} ${ts}`))
      return refuse("message_not_found");
    messages.set(`${place} ${time}`, sent);
    const icons = [36, 48, 72].map((size) => `https://a.slack-edge.com/80588/bot_${size}.png`);
    const message = { ...sent, bot_profile: { id: "B0BOX", name: "box", icons } };
    say(200, { ok: true, channel: place, ts: time, message });
  };
  return { behaviour, messages, faults };
}

function areSlackBlocks(blocks: SlackBlock[]): boolean {
  const fits = ({ type, text, elements = [] }: SlackBlock) => {
    if (type === "header") return text?.type === "plain_text" && within(text.text, 150);
    if (type === "section") return text?.type === "mrkdwn" && within(text.text, 3_000);
    if (type === "context") return elements.length >= 1 && elements.length <= 10;
    const isButton = (one: (typeof elements)[number]) =>
      one.type === "button" && within(one.action_id, 255) && within(one.value, 2_000);
    return type === "actions" && elements.length >= 1 && elements.every(isButton);
  };
  return blocks.length <= 50 && blocks.every(fits);
}

const within = (text: unknown, most: number) =>
  typeof text === "string" && text.length >= 1 && text.length <= most;

/** What a message to Slack would do beside being read: people it calls, links that aren't ours. */
export function slackActs(content: Record<string, unknown>): string[] {
  const { text, blocks = [], link_names: names, parse } = content;
  const ours = /<https:\/\/box\.example\/[^<>|]*\|[A-Za-z ]+>/g;
  const said = JSON.stringify([text, blocks]).replace(ours, "");
  const isOff = names === false && parse === "none" && !said.includes('"verbatim":false');
  return [...(said.match(/[<>]/g) ?? []), ...(isOff ? [] : ["names are looked for"])];
}

export const TELEGRAM_TOKEN = "123456:canary-AAE_token";
/** A chat with somebody who blocked the bot. */
export const TELEGRAM_BLOCKED = "4712";

interface TelegramMessage {
  text: string;
  reply_markup?: { inline_keyboard: { text: string; callback_data?: string }[][] };
}

/** The Bot API: one chat, messages that can be changed, and the words with which it refuses. */
export function telegramService(known = "4711"): {
  behaviour: Behaviour;
  messages: Map<number, TelegramMessage & Record<string, unknown>>;
  faults: string[];
} {
  const messages = new Map<number, TelegramMessage & Record<string, unknown>>();
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = saying(response);
    const refuse = (code: number, description: string) => {
      faults.push(description);
      say(code, { ok: false, error_code: code, description });
    };
    if (request.path === `/bot${TELEGRAM_TOKEN}/getMe`)
      return say(200, {
        ok: true,
        result: { id: 123_456, is_bot: true, username: "shop_box_bot" },
      });
    // Nobody presses anything: the look is held open.
    if (request.path === `/bot${TELEGRAM_TOKEN}/getUpdates`) return;
    const method = new RegExp(`^/bot${TELEGRAM_TOKEN}/(sendMessage|editMessageText)$`).exec(
      request.path,
    )?.[1];
    if (method === undefined) return refuse(401, "Unauthorized");
    const sent = jsonOf(request);
    if (sent === null) return refuse(400, "Bad Request: can't parse JSON");
    const { chat_id: chat, text, message_id: id } = sent;
    if (chat === TELEGRAM_BLOCKED) return refuse(403, "Forbidden: bot was blocked by the user");
    if (chat !== known) return refuse(400, "Bad Request: chat not found");
    if (typeof text !== "string" || text.trim() === "")
      return refuse(400, "Bad Request: message text is empty");
    if (text.length > 4_096) return refuse(400, "Bad Request: message is too long");
    const keys = (sent.reply_markup?.inline_keyboard ?? []).flat();
    const isData = ({ callback_data: data = "" }) => /^.{1,64}$/.test(data) && data.length <= 64;
    if (!keys.every(isData)) return refuse(400, "Bad Request: BUTTON_DATA_INVALID");
    const old = messages.get(id);
    if (method === "editMessageText" && old === undefined)
      return refuse(400, "Bad Request: message to edit not found");
    if (
      JSON.stringify([old?.text, old?.reply_markup]) === JSON.stringify([text, sent.reply_markup])
    )
      return refuse(400, "Bad Request: message is not modified: specified new message is the same");
    const message = old === undefined ? 88 + messages.size : id;
    messages.set(message, sent);
    say(200, { ok: true, result: { message_id: message, chat: { id: Number(known) }, text } });
  };
  return { behaviour, messages, faults };
}
