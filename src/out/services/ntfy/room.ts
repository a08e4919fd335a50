import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { urgencyOf } from "../texts.ts";
import {
  NTFY_SERVER,
  type NtfyMessage,
  type NtfyServer,
  ntfyPriorities,
  ntfyWords,
  publish,
} from "./api.ts";

export const ntfy = channel({
  kind: "ntfy",
  about: "an ntfy topic, which rings phones with the ntfy app",
  fields: z.strictObject({
    topic: text(64)
      .regex(/^[-_A-Za-z0-9]{0,64}$/, { error: "must have only letters, digits, - and _" })
      .meta({
        description:
          "the topic; on a public server anybody who knows it can read it, so make it long",
      }),
    server: text(2048)
      .optional()
      .meta({ description: `the server's address (default ${NTFY_SERVER})` }),
    access_token: text(256)
      .optional()
      .meta({ description: "the server's access token, where it asks for one" }),
  }),
  addresses: ["server"],
  // Whoever knows the topic reads along.
  sent: { where: ["server"], secrets: ["topic", "access_token"] },
  flags: { topic: "<topic>", server: "--server <url>", access_token: "--access-token <token>" },
  shown: ({ server }) => new URL(server || NTFY_SERVER).origin,
  send: sendNtfy,
});

export function sendNtfy(attempt: WordsAttempt<NtfyServer & { topic: string }>): Promise<Posted> {
  const { credentials, event, words } = attempt;
  const message = { topic: credentials.topic, ...ntfyMessage(event, words) };
  return publish(attempt, credentials, message);
}

const MOST_ACTIONS = 3;
/** Of their addresses together, in bytes: more would take the place of words. */
const ADDRESSES = 3_000;

/** The notification. */
export function ntfyMessage(event: EventBody, words: Message): NtfyMessage {
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
    ...ntfyWords(title, message),
    priority: ntfyPriorities[urgencyOf(event)],
    tags: [tagOf(event)],
    ...(link === null ? {} : { click: link }),
    ...(actions.length > 0 && { actions }),
  };
}

/** Names of emoji, as ntfy has them. */
function tagOf({ event, level }: EventBody): string {
  if (event === "alert.resolved") return "white_check_mark";
  if (event === "alert.acknowledged") return "eyes";
  return level >= 400 ? "rotating_light" : "warning";
}
