import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import { askedWait, withQuery } from "../post.ts";
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
import { webhookRoom } from "../webhook-room.ts";

export const discord = webhookRoom({
  kind: "discord",
  about: "a Discord webhook",
  message: discordMessage,
  why: ({ message }) => message,
  // Otherwise Discord answers before it has looked.
  at: (url) => withQuery(url, "wait", "true"),
  // Its fraction of a second is finer than the header's.
  read: (answered) => askedWait(answered, answered.answer["retry_after"], 1_000),
});

const CONTENT = 2_000;
const DESCRIPTION = 4_096;
const DETAILS = 2_000;
const SENTENCES = 1_200;
const FOOTER = 2_048;

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
