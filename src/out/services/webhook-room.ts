import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";
import type { EventBody } from "../outbox/event.ts";
import type { Message } from "../outbox/message.ts";
import { channel } from "./channel.ts";
import { type Answered, type Post, postJson } from "./post.ts";

export const webhookUrl = text(2048).meta({
  description: "address of the incoming webhook; the whole of it is secret",
});

/** A kind whose rooms take messages as JSON, at an address that is the credential as a whole. */
export function webhookRoom<const K extends string>(room: {
  kind: K;
  about: string;
  message(event: EventBody, words: Message): object;
  why: Post["why"];
  /** The address with what the service wants in its query. */
  at?(url: string): string;
  /** What the answer says beside its status. */
  read?(answered: Answered): Answered;
}) {
  const { kind, about, message, why, at = (url) => url, read = (answered) => answered } = room;
  return channel({
    kind,
    about,
    isChat: true,
    fields: z.strictObject({ webhook_url: webhookUrl }),
    addresses: ["webhook_url"],
    flags: { webhook_url: "<webhook-url>" },
    shown: ({ webhook_url: url }) => new URL(url).origin,
    async send(attempt) {
      const { credentials, event, words } = attempt;
      const url = at(credentials.webhook_url);
      return read(await postJson(attempt, url, { body: message(event, words), why }));
    },
  });
}
