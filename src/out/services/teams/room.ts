import type { EventBody } from "../../outbox/event.ts";
import type { Link } from "../../outbox/event-names.ts";
import type { Message } from "../../outbox/message.ts";
import { objectIn } from "../post.ts";
import { addressesOf, type MessageColour, messageColourOf } from "../texts.ts";
import { webhookRoom } from "../webhook-room.ts";

/** 202 says that the workflow took a message, not that it is shown. */
export const teams = webhookRoom({
  kind: "teams",
  about: "a Microsoft Teams workflow",
  message: teamsMessage,
  why: ({ error }) => objectIn(error)["code"],
});

const COLOURS: Readonly<Record<MessageColour, string>> = {
  critical: "Attention",
  bad: "Attention",
  warning: "Warning",
  seen: "Accent",
  over: "Good",
};

/**
 * An Adaptive Card, far below the 28 KB that a workflow takes. Its texts are runs, which know no Markdown, rather than
 * text blocks, which do and have no escapes that every Teams reads.
 */
export function teamsMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people } = words;
  const buttons = addressesOf(words);
  const body = [
    run(title, { size: "Large", weight: "Bolder", color: COLOURS[messageColourOf(event)] }),
    ...details.map((line, i) => run(line, i === 0 ? { fontType: "Monospace" } : {})),
    ...people.map((sentence) => run(sentence, {})),
    ...(facts === "" ? [] : [run(facts, { isSubtle: true })]),
  ];
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body,
    ...(buttons.length > 0 && { actions: buttons.map(openUrl) }),
    msteams: { width: "Full" },
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
}

function openUrl({ text, href }: Link): object {
  return { type: "Action.OpenUrl", title: text, url: href };
}

function run(text: string, look: object): object {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", text, ...look }] };
}
