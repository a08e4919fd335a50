import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { webUrl } from "../../../ground/kit/flags.ts";
import { type Message, plainText } from "../../outbox/message.ts";
import type { Link } from "../../outbox/said.ts";
import {
  limitsOf,
  type Posted,
  serverTime,
  type Via,
  verdictOf,
} from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import { escapeWithin, incomingWebhook, partsWithin, type RoomRequest, takenFor } from "../room.ts";
import { postAsApp } from "./api.ts";

export const slack = channel({
  kind: "slack",
  about: "a Slack incoming webhook, or a channel that an app writes into",
  isRoom: true,
  fields: z.strictObject({
    webhook_url: incomingWebhook.fields.shape.webhook_url.optional(),
    bot_token: text(256)
      .regex(/^[\x21-\x7e]*$/, { error: "must have only visible ASCII characters" })
      .optional()
      .meta({ description: "an app's bot token, xoxb-…, in place of a webhook" }),
    channel: text(80)
      .regex(/^[^\s\p{Cc}]*$/u, { error: "must be a channel's id or name" })
      .optional()
      .meta({ description: "the channel that the app writes into, by its id or name" }),
  }),
  oneOf: [["webhook_url"], ["bot_token", "channel"]],
  addresses: ["webhook_url"],
  flags: {
    webhook_url: "[webhook-url]",
    bot_token: "--bot-token <token>",
    channel: "--channel <channel>",
  },
  shown: ({ webhook_url: url, channel: name }) =>
    url === undefined ? `slack:${name}` : new URL(url).origin,
  settings: {
    slackApi: {
      flag: "--slack-api <url>",
      about: "Slack Web API (default the public one)",
      usual: "https://slack.com/api",
      read: webUrl,
    },
  },
  send: ({ credentials, event, words, egress, now, settings, host }) => {
    const { webhook_url: webhookUrl = "", bot_token: token, channel: name } = credentials;
    const via = { egress, now };
    if (!token || !name) return sendSlack(via, { webhookUrl, event, words });
    const app = { apiUrl: settings.slackApi, token, channel: name };
    const alertId = host.hears?.({ kind: "slack", token }) ? takenFor(event) : null;
    return postAsApp(via, app, slackMessage(words, alertId));
  },
});

/** Slack's own limits are 150, 3,000 and, for all of it, 4,000 characters that are shown well. */
const HEADER = 150;
const SECTION = 2_000;
const SENTENCES = 800;
const CONTEXT = 300;
/** With the addresses, of which only the names are shown. */
const ALL_CONTEXT = 3_000;
const FALLBACK = 700;

/** Posts the event as a message. Errors hold Slack's one-word answer, never the URL. */
export async function sendSlack(via: Via, request: RoomRequest): Promise<Posted> {
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "POST",
    url: request.webhookUrl,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(slackMessage(request.words)),
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
 * names, so no log line can mention anyone; nor are links in it fetched for a preview. `alertId`: what a button takes;
 * none where presses aren't heard.
 */
export function slackMessage(message: Message, alertId: string | null = null): object {
  const { title, details, people, facts, link, links } = message;
  const sections = [
    escapeWithin(details.join("\n"), SECTION),
    escapeWithin(people.join("\n"), SENTENCES),
  ];
  const addresses = [...(link === null ? [] : [{ text: "Open", href: link }]), ...links];
  const context = [escapeWithin(facts, CONTEXT), ...addresses.map(slackLink)];
  const shown = partsWithin(context.filter(Boolean), ALL_CONTEXT, " · ");
  return {
    text: escapeWithin(plainText({ ...message, link: null, links: [] }), FALLBACK),
    blocks: [
      { type: "header", text: { type: "plain_text", text: escapeWithin(title, HEADER) } },
      ...sections.filter(Boolean).map((text) => ({ type: "section", text: slackMarkdown(text) })),
      ...(alertId === null ? [] : [ackButton(alertId)]),
      ...(shown === "" ? [] : [{ type: "context", elements: [slackMarkdown(shown)] }]),
    ],
    parse: "none",
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}

function ackButton(alertId: string): object {
  const text = { type: "plain_text", text: "Acknowledge" };
  return {
    type: "actions",
    elements: [{ type: "button", action_id: "ack_alert", value: alertId, text }],
  };
}

/** `verbatim`: names and channels in it stay text. */
export function slackMarkdown(escaped: string): object {
  return { type: "mrkdwn", text: escaped, verbatim: true };
}

export function slackLink({ text, href }: Link): string {
  const name = escapeWithin(text.replaceAll("|", "/"), 100);
  return `<${href.replace(/[<>|\s]/g, encodeURIComponent).replaceAll("&", "&amp;")}|${name}>`;
}
