import type { EventBody } from "../outbox/event.ts";
import { describe, plainText } from "../outbox/message.ts";
import { limitsOf, type Posted, serverTime, type Via, verdictOf } from "../outbox/senders/sent.ts";
import { channel } from "./channel.ts";
import { escapeWithin, incomingWebhook, type RoomRequest } from "./room.ts";

export const slack = channel({
  kind: "slack",
  about: "a Slack incoming webhook",
  ...incomingWebhook,
  send: ({ credentials, event, egress, now }) =>
    sendSlack({ egress, now }, { webhookUrl: credentials.webhook_url, event, link: null }),
});

/** Slack's own limits are 150, 3,000 and, for all of it, 4,000 characters that are shown well. */
const HEADER = 150;
const SECTION = 2_400;
const CONTEXT = 700;
const FALLBACK = 700;

/** Posts the event as a message. Errors hold Slack's one-word answer, never the URL. */
export async function sendSlack(via: Via, request: RoomRequest): Promise<Posted> {
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: request.webhookUrl,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(slackMessage(request.event, request.link)),
  });
  const word = result.body.trim();
  return {
    verdict: verdictOf(result, via.now, /^[a-z_]{1,40}$/.test(word) ? word : ""),
    durationMs: result.durationMs,
    serverTime: serverTime(result),
  };
}

/**
 * The message: blocks, and a text for notifications. Everything is escaped and nothing is parsed for
 * names, so no log line can mention anyone; nor are links in it fetched for a preview.
 */
export function slackMessage(event: EventBody, link: string | null): object {
  const message = describe(event, link);
  const section = escapeWithin(message.details.join("\n"), SECTION);
  const context = [escapeWithin(message.facts, CONTEXT), link === null ? "" : linkTo(link)];
  const shown = context.filter(Boolean).join(" · ");
  return {
    text: escapeWithin(plainText({ ...message, link: null }), FALLBACK),
    blocks: [
      { type: "header", text: { type: "plain_text", text: escapeWithin(message.title, HEADER) } },
      ...(section === "" ? [] : [{ type: "section", text: markdown(section) }]),
      ...(shown === "" ? [] : [{ type: "context", elements: [markdown(shown)] }]),
    ],
    parse: "none",
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** `verbatim`: names and channels in it stay text. */
function markdown(escaped: string): object {
  return { type: "mrkdwn", text: escaped, verbatim: true };
}

function linkTo(link: string): string {
  return `<${link.replace(/[<>|\s]/g, encodeURIComponent).replaceAll("&", "&amp;")}|Open>`;
}
