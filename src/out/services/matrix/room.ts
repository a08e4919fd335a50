import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import { clampRetryAfter } from "../../outbox/retry.ts";
import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import {
  type Answered,
  escapeWithin,
  loudnessOf,
  plainWithin,
  postJson,
  refusedFor,
  shortened,
  unlessTaken,
} from "../room.ts";

export const matrix = channel({
  kind: "matrix",
  about: "a Matrix room without encryption",
  isRoom: true,
  fields: z.strictObject({
    room_id: text(255)
      .regex(/^(![^\s\p{Cc}]+)?$/u, { error: "must be a room's id, which begins with !" })
      .meta({ description: "the room's id (not its alias); the account must be in the room" }),
    homeserver: text(2048).meta({ description: "the homeserver's address" }),
    access_token: text(512)
      .regex(/^[\x21-\x7e]*$/, { error: "must have only visible ASCII characters" })
      .meta({ description: "an access token of the account that writes" }),
  }),
  addresses: ["homeserver"],
  sent: { where: ["homeserver"], secrets: ["access_token"] },
  flags: {
    room_id: "<room-id>",
    homeserver: "--homeserver <url>",
    access_token: "--access-token <token>",
  },
  shown: ({ homeserver }) => new URL(homeserver).origin,
  send: ({ credentials, message, event, words, egress, now }) => {
    const { homeserver, access_token: token, room_id: roomId } = credentials;
    const transaction = message.eventId;
    const room = { homeserver, token, roomId };
    return sendMatrix({ egress, now }, { ...room, transaction, event, words });
  },
});

/** A room, and who writes into it. */
export interface MatrixRoom {
  /** May have a path, where the server stands behind a proxy. */
  homeserver: string;
  token: string;
  /** `!abc:example.org`. */
  roomId: string;
}

/** One attempt at one room. */
export interface MatrixRequest extends MatrixRoom {
  /** The same for every attempt at one message: the server takes it once. */
  transaction: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
}

/** Sends the event; a repeated attempt makes no second message. */
export async function sendMatrix(via: Via, request: MatrixRequest): Promise<Posted> {
  const { transaction, event, words, ...room } = request;
  const content = matrixMessage(event, words);
  const { answer, ...posted } = await putEvent(via, room, { transaction, content });
  return posted;
}

/** What a room gets, under an id that makes it happen once. */
interface MatrixEvent {
  transaction: string;
  content: object;
}

/** Puts an event into a room (Client-Server API, `PUT …/send`). `answer.event_id` is its id. */
export async function putEvent(
  via: Via,
  { homeserver, token, roomId }: MatrixRoom,
  { transaction, content }: MatrixEvent,
): Promise<Answered> {
  const { origin, pathname } = new URL(homeserver);
  const [room, once] = [roomId, transaction].map(encodeURIComponent);
  const path = `_matrix/client/v3/rooms/${room}/send/m.room.message/${once}`;
  const answered = await postJson(via, `${origin}${pathname.replace(/\/+$/, "")}/${path}`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}` },
    body: content,
    why: ({ errcode }) => errcode,
  });
  const taken = unlessTaken(answered, ({ event_id: id }) => typeof id === "string");
  return withPause(refusedFor(taken, ({ errcode }) => FOR_GOOD.has(errcode)));
}

/** The account isn't in the room or may not write, its token is none, or the message is none. */
const FOR_GOOD: ReadonlySet<unknown> = new Set([
  "M_FORBIDDEN",
  "M_UNKNOWN_TOKEN",
  "M_MISSING_TOKEN",
  "M_USER_DEACTIVATED",
  "M_TOO_LARGE",
  "M_BAD_JSON",
  "M_INVALID_PARAM",
]);

/** Servers of before 2023 say in the body how long to wait, and in no header. */
function withPause(answered: Answered): Answered {
  const { verdict, answer } = answered;
  const { retry_after_ms: ms } = answer;
  if (verdict.kind !== "later" || verdict.retryAfterMs !== undefined) return answered;
  if (typeof ms !== "number" || !Number.isFinite(ms)) return answered;
  return { ...answered, verdict: { ...verdict, retryAfterMs: clampRetryAfter(Math.ceil(ms)) } };
}

/** In UTF-16 units. An event has 65,536 bytes at most; this is far from it. */
const BODY = 4_000;
const DETAILS = 8_000;

/** The message: plain text, and the same as HTML. */
export function matrixMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people, link, links } = words;
  const addresses = [...(link === null ? [] : [{ text: "Open", href: link }]), ...links];
  const logged = escapeWithin(details.join("\n"), DETAILS);
  const shown = [
    `<strong>${escapeMarkup(title)}</strong>`,
    ...(logged === "" ? [] : [`<pre><code>${logged}</code></pre>`]),
    ...[...people, facts].filter(Boolean).map(escapeMarkup),
    ...addresses.map(
      ({ text, href }) => `<a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a>`,
    ),
  ];
  const isSilent = loudnessOf(event) === "silent";
  return matrixContent({ plain: plainWithin(words, BODY), html: shown.join("<br>"), isSilent });
}

/** A message's content. No name in it calls anybody, and a notice makes no sound. */
export function matrixContent(said: { plain: string; html: string; isSilent: boolean }): object {
  return {
    msgtype: said.isSilent ? "m.notice" : "m.text",
    body: shortened(said.plain, BODY),
    format: "org.matrix.custom.html",
    formatted_body: said.html,
    "m.mentions": {},
  };
}
