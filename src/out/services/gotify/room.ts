import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import type { EventBody } from "../../outbox/event.ts";
import { asLine, type Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { onServer, postJson, unlessTaken } from "../post.ts";
import { type Urgency, urgencyOf } from "../texts.ts";

export const gotify = channel({
  kind: "gotify",
  about: "a Gotify application, which rings phones with the Gotify app",
  fields: z.strictObject({
    server: text(2048).meta({ description: "the server's address" }),
    token: text(256)
      .regex(/^[\x21-\x7e]*$/, { error: "must have only visible ASCII characters" })
      .meta({ description: "the application's token" }),
  }),
  addresses: ["server"],
  sent: { where: ["server"], secrets: ["token"] },
  flags: { server: "<server>", token: "--token <token>" },
  shown: ({ server }) => new URL(server).origin,
  send: sendGotify,
});

/** Publishes the event as a message of the application. */
export async function sendGotify(
  attempt: WordsAttempt<{ server: string; token: string }>,
): Promise<Posted> {
  const { credentials, event, words } = attempt;
  const { server, token } = credentials;
  const answered = await postJson(attempt, onServer(server, "/message"), {
    headers: { "X-Gotify-Key": token },
    body: gotifyMessage(event, words),
    why: ({ error }) => error,
  });
  return unlessTaken(answered, ({ id }) => Number.isSafeInteger(id));
}

/** From 8 on its app rings, from 4 it makes a sound. */
const PRIORITIES: Readonly<Record<Urgency, number>> = {
  through: 10,
  rings: 8,
  usual: 5,
  silent: 2,
};

/** Plain text, so that nothing in it is markup, whatever the server was set to. */
export function gotifyMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people, link, links } = words;
  const message = [...details, ...people, facts, ...links.map(asLine)].filter(Boolean).join("\n");
  return {
    title,
    // A message must not be empty.
    message: message === "" ? title : message,
    priority: PRIORITIES[urgencyOf(event)],
    extras: {
      "client::display": { contentType: "text/plain" },
      ...(link !== null && { "client::notification": { click: { url: link } } }),
    },
  };
}
