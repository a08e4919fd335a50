import type { EventBody } from "../outbox/event.ts";
import { describe } from "../outbox/message.ts";
import type { Posted, Via } from "../outbox/senders/sent.ts";
import { channel } from "./channel.ts";
import {
  incomingWebhook,
  type Mood,
  moodOf,
  objectIn,
  postJson,
  type RoomRequest,
} from "./room.ts";

export const teams = channel({
  kind: "teams",
  about: "a Microsoft Teams workflow",
  ...incomingWebhook,
  send: ({ credentials, event, egress, now }) =>
    sendTeams({ egress, now }, { webhookUrl: credentials.webhook_url, event, link: null }),
});

const COLOURS: Readonly<Record<Mood, string>> = {
  ...{ critical: "Attention", bad: "Attention", warning: "Warning", seen: "Accent", over: "Good" },
};

/** Posts the event as a card. 202 says that the workflow took it, not that it is shown. */
export async function sendTeams(via: Via, request: RoomRequest): Promise<Posted> {
  const { answer, ...posted } = await postJson(via, request.webhookUrl, {
    body: teamsMessage(request.event, request.link),
    why: ({ error }) => objectIn(error)["code"],
  });
  return posted;
}

/**
 * An Adaptive Card, far below the 28 KB that a workflow takes. Its texts are runs, which know no Markdown, rather than
 * text blocks, which do and have no escapes that every Teams reads.
 */
export function teamsMessage(event: EventBody, link: string | null): object {
  const { title, facts, details } = describe(event);
  const body = [
    run(title, { size: "Large", weight: "Bolder", color: COLOURS[moodOf(event)] }),
    ...details.map((line, i) => run(line, i === 0 ? { fontType: "Monospace" } : {})),
    ...(facts === "" ? [] : [run(facts, { isSubtle: true })]),
  ];
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    ...{ type: "AdaptiveCard", version: "1.4", body },
    ...(link !== null && { actions: [{ type: "Action.OpenUrl", title: "Open", url: link }] }),
    msteams: { width: "Full" },
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
}

function run(text: string, look: object): object {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", text, ...look }] };
}
