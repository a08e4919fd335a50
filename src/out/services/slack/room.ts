import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { webUrl } from "../../../ground/kit/flags.ts";
import { type Message, plainText } from "../../outbox/message.ts";
import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { postJson } from "../post.ts";
import { addressesOf, escapeWithin, partsWithin, takenFor } from "../texts.ts";
import { webhookUrl } from "../webhook-room.ts";
import {
  callSlack,
  noPreviews,
  SLACK_API,
  type SlackApp,
  slackButtons,
  slackContent,
  slackLink,
} from "./api.ts";

export const slack = channel({
  kind: "slack",
  about: "a Slack incoming webhook, or a channel that an app writes into",
  isChat: true,
  fields: z.strictObject({
    webhook_url: webhookUrl.optional(),
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
      usual: SLACK_API,
      read: webUrl,
    },
  },
  send: (attempt) => {
    const { credentials, event, words, egress, now, settings, host } = attempt;
    const { webhook_url = "", bot_token: token, channel: name } = credentials;
    if (!token || !name) return sendSlack({ egress, now, words, credentials: { webhook_url } });
    const app = { apiUrl: settings.slackApi, token, channel: name };
    const alertId = host.hears?.({ kind: "slack", token }) ? takenFor(event) : null;
    return postAsApp(attempt, app, slackMessage(words, alertId));
  },
});

const SECTION = 2_000;
const SENTENCES = 800;
const CONTEXT = 300;
/** With the addresses, of which only the names are shown. */
const ALL_CONTEXT = 3_000;

/** Posts the event as a message. Errors hold Slack's one-word answer, never the URL. */
export function sendSlack(
  attempt: Pick<WordsAttempt<{ webhook_url: string }>, "credentials" | "words"> & Via,
): Promise<Posted> {
  return postJson(attempt, attempt.credentials.webhook_url, {
    body: slackMessage(attempt.words),
    why: (_, word) => word.trim(),
  });
}

/** The same by an app. */
export function postAsApp(
  via: Via,
  { channel, ...app }: SlackApp & { channel: string },
  content: object,
): Promise<Posted> {
  return callSlack(via, app, { method: "chat.postMessage", body: { channel, ...content } });
}

/** The message. `alertId`: what a button takes; none where presses aren't heard. */
export function slackMessage(message: Message, alertId: string | null = null): object {
  const { title, details, people, facts } = message;
  const small = [escapeWithin(facts, CONTEXT), ...addressesOf(message).map(slackLink)];
  const content = slackContent({
    title,
    plain: plainText({ ...message, link: null, links: [] }),
    sections: [
      escapeWithin(details.join("\n"), SECTION),
      escapeWithin(people.join("\n"), SENTENCES),
    ],
    buttons:
      alertId === null
        ? null
        : slackButtons([{ action: "ack_alert", value: alertId, label: "Acknowledge" }]),
    below: partsWithin(small.filter(Boolean), ALL_CONTEXT, " · "),
  });
  return { ...content, ...noPreviews };
}
