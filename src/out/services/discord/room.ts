import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, incomingWebhook, type WebhookAttempt } from "../channel.ts";
import { askedWait, postJson, withQuery } from "../post.ts";
import {
  addressesOf,
  COLOURS,
  codeBlock,
  markdownLink,
  messageColourOf,
  partsWithin,
  plainMarkdown,
  shortened,
} from "../texts.ts";

export const discord = channel({
  kind: "discord",
  about: "a Discord webhook",
  isChat: true,
  ...incomingWebhook,
  send: sendDiscord,
});

const CONTENT = 2_000;
const DESCRIPTION = 4_096;
const DETAILS = 2_000;
const SENTENCES = 1_200;
const FOOTER = 2_048;

/** Posts the event and waits until the message exists (`wait`); else Discord answers before it has looked. */
export async function sendDiscord(attempt: WebhookAttempt): Promise<Posted> {
  const { credentials, event, words } = attempt;
  const answered = await postJson(attempt, withQuery(credentials.webhook_url, "wait", "true"), {
    body: discordMessage(event, words),
    why: ({ message }) => message,
  });
  // Its fraction of a second is finer than the header's.
  const { answer, ...posted } = askedWait(answered, answered.answer["retry_after"], 1_000);
  return posted;
}

/**
 * The title is the text that phones show; what was logged is a block of code. Nobody can be mentioned. Addresses stand in
 * the text: of one for an embed Discord wants a host with a dot, and refuses the whole message of a box that is called `box`.
 */
export function discordMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people } = words;
  const sentences = shortened(people.map(plainMarkdown).join("\n"), SENTENCES);
  const description = [
    ...(details.length > 0 ? [codeBlock(details, DETAILS)] : []),
    ...[sentences, ...addressesOf(words).map(markdownLink)].filter(Boolean),
  ];
  const embed = {
    ...(description.length > 0 && { description: partsWithin(description, DESCRIPTION) }),
    ...(facts !== "" && { footer: { text: shortened(facts, FOOTER) } }),
  };
  return {
    content: shortened(plainMarkdown(title), CONTENT),
    embeds:
      Object.keys(embed).length === 0 ? [] : [{ ...embed, color: COLOURS[messageColourOf(event)] }],
    allowed_mentions: { parse: [] },
  };
}
