import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { withinBytes } from "../../../ground/kit/text.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import { type Loudness, loudnessOf, postJson, unlessTaken } from "../room.ts";

const PUBLIC_SERVER = "https://ntfy.sh";

export const ntfy = channel({
  kind: "ntfy",
  about: "an ntfy topic, which rings phones with the ntfy app",
  fields: z.strictObject({
    topic: text(64)
      .regex(/^[-_A-Za-z0-9]{0,64}$/, { error: "must have only letters, digits, - and _" })
      .meta({
        description: "the topic; on a public server whoever knows it reads along, so make it long",
      }),
    server: text(2048)
      .optional()
      .meta({ description: `the server's address, ${PUBLIC_SERVER} where it is left out` }),
    access_token: text(256)
      .optional()
      .meta({ description: "the server's access token, where it asks for one" }),
  }),
  addresses: ["server"],
  // Whoever knows the topic reads along.
  sent: { where: ["server"], secrets: ["topic", "access_token"] },
  flags: { topic: "<topic>", server: "--server <url>", access_token: "--access-token <token>" },
  shown: ({ server }) => new URL(server || PUBLIC_SERVER).origin,
  send: ({ credentials, event, words, egress, now }) => {
    const { topic, server = "", access_token: token = "" } = credentials;
    return sendNtfy({ egress, now }, { server, topic, token, event, words });
  },
});

/** One attempt at one topic. */
export interface NtfyRequest {
  /** Empty: the public one. */
  server: string;
  topic: string;
  /** Empty: none. */
  token: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
}

/** Publishes the event as JSON to the server's root (docs.ntfy.sh, Publish as JSON). */
export async function sendNtfy(via: Via, request: NtfyRequest): Promise<Posted> {
  const { server, topic, token, event, words } = request;
  const answered = await postJson(via, server === "" ? PUBLIC_SERVER : server, {
    ...(token !== "" && { headers: { Authorization: `Bearer ${token}` } }),
    body: withinNtfy({ topic, ...ntfyMessage(event, words) }),
    why: ({ error }) => error,
  });
  const { answer, ...posted } = unlessTaken(answered, ({ id }) => typeof id === "string");
  return posted;
}

/** A longer message becomes a file that nobody opens at night; both in bytes. */
const TITLE = 200;
const MESSAGE = 3_900;
const MOST_ACTIONS = 3;
/** Of their addresses together, in bytes: more would take the place of words. */
const ADDRESSES = 3_000;
/** What the server reads of a request, with escapes and addresses; it refuses all of a longer one. */
const REQUEST = 8_192;

/** A notification whose message is cut so far that the server reads it. */
export function withinNtfy<B extends { message: string }>(body: B): B {
  const over = Buffer.byteLength(JSON.stringify(body)) - REQUEST;
  if (over <= 0) return body;
  const most = Math.max(1, Buffer.byteLength(body.message) - over);
  return { ...body, message: withinBytes(body.message, most) };
}

/** The notification. */
export function ntfyMessage(event: EventBody, words: Message) {
  const { title, facts, details, people, link, links } = words;
  const message = [...details, ...people, facts].filter(Boolean).join("\n");
  let room = ADDRESSES;
  const actions = links
    .filter(({ href }) => {
      const bytes = Buffer.byteLength(href);
      if (bytes > room) return false;
      room -= bytes;
      return true;
    })
    .slice(0, MOST_ACTIONS)
    .map(({ text, href }) => ({ action: "view", label: text, url: href }));
  return {
    title: withinBytes(title, TITLE),
    // The server says "triggered" of an empty one.
    message: withinBytes(message === "" ? title : message, MESSAGE),
    priority: PRIORITIES[loudnessOf(event)],
    tags: [tagOf(event)],
    ...(link === null ? {} : { click: link }),
    ...(actions.length > 0 && { actions }),
  };
}

/** From 1 to 5. */
const PRIORITIES: Readonly<Record<Loudness, number>> = {
  through: 5,
  rings: 4,
  usual: 3,
  silent: 2,
};

/** Names of emoji, as ntfy has them. */
function tagOf({ event, level }: EventBody): string {
  if (event === "alert.resolved") return "white_check_mark";
  if (event === "alert.acknowledged") return "eyes";
  return level >= 400 ? "rotating_light" : "warning";
}
