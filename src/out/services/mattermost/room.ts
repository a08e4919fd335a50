import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import {
  COLOURS,
  codeBlock,
  markdownLink,
  messageColourOf,
  partsWithin,
  plainMarkdown,
  shortened,
} from "../texts.ts";
import { webhookRoom } from "../webhook-room.ts";

export const mattermost = webhookRoom({
  kind: "mattermost",
  about: "a Mattermost incoming webhook",
  message: mattermostMessage,
  why: ({ id }) => id,
});

/** A post has 16,383 characters at most; this is far from it. */
const DETAILS = 4_000;
const SENTENCES = 2_000;
const TEXT = 12_000;

/**
 * The title is the post's text. Mattermost looks for `@channel` in posts of webhooks, too, and in attachments, but not
 * in code.
 */
export function mattermostMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people, link, links } = words;
  const text = [
    ...(details.length > 0 ? [codeBlock(details, DETAILS)] : []),
    shortened(people.map(plainMarkdown).join("\n"), SENTENCES),
    ...links.map(markdownLink),
  ].filter(Boolean);
  const attachment = {
    ...(text.length > 0 && { text: partsWithin(text, TEXT) }),
    ...(facts !== "" && { footer: facts }),
    ...(link !== null && { title: "Open", title_link: link }),
  };
  return {
    text: plainMarkdown(title),
    ...(Object.keys(attachment).length > 0 && {
      attachments: [
        {
          fallback: shortened([...details, ...people, facts].join("\n"), DETAILS),
          color: `#${COLOURS[messageColourOf(event)].toString(16)}`,
          ...attachment,
        },
      ],
    }),
  };
}
