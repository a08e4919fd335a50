import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, type DirectAttempt, gatewayKind } from "../contact-kind.ts";
import { type DirectMessage, type DirectSent, withRef } from "../direct-message.ts";
import { under } from "../post.ts";
import { escapeWithin } from "../texts.ts";
import {
  callSlack,
  noPreviews,
  SLACK_API,
  type SlackApp,
  slackButtons,
  slackContent,
  slackLink,
  slackRefusals,
} from "./api.ts";

/** The tenant's app. Without an app token the box hears no buttons, and a page has a link in their place. */
const app = z.strictObject({
  bot_token: text(256, 1)
    .regex(/^xoxb-/, { error: "must begin with xoxb-" })
    .meta({ description: "the bot's token, with chat:write and im:write" }),
  app_token: text(256)
    .regex(/^(xapp-.*)?$/, { error: "must begin with xapp-" })
    .optional()
    .meta({ description: "the app's token, with connections:write; needed for buttons" }),
  url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
});
export type SlackGateway = z.output<typeof app>;

const slackGateway = gatewayKind({
  kind: "slack",
  about: "a Slack app of one's own; with an app token its buttons work behind a firewall",
  fields: app,
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["bot_token", "app_token"] },
  refuses: slackRefusals.settings,
  async prove({ gateway, egress, now }) {
    const { app_token: appToken = "" } = gateway;
    const ask = (method: string, token?: string) =>
      callSlack({ egress, now }, appOf(gateway, token), { method, body: {} });
    const asked = await ask("auth.test");
    // An address to listen at; nobody is told of one that isn't used.
    const isOver = appToken === "" || asked.verdict.kind !== "delivered";
    return isOver ? asked : ask("apps.connections.open", appToken);
  },
});

export function appOf({ url = "", bot_token }: SlackGateway, token = bot_token): SlackApp {
  return { apiUrl: under(url || SLACK_API, ""), token };
}

export const slackContact = contactKind({
  kind: "slack",
  about: "a direct message by the Slack app",
  gateway: slackGateway,
  fields: z.strictObject({
    address: text(24, 1)
      .regex(/^[UW][A-Z0-9]{6,20}$/, { error: "must be a member's id, like U024BE7LH" })
      .meta({ description: "the person's member id: profile, More, Copy member ID" }),
  }),
  gone: slackRefusals.gone,
  notes: true,
  send: sendSlackDirect,
  edit: editSlackDirect,
});

type Attempt = DirectAttempt<SlackGateway>;

/** Sends a direct message. `ref` is `D…:ts`, the conversation and the message. */
export async function sendSlackDirect(attempt: Attempt): Promise<DirectSent> {
  const { gateway, fields, message } = attempt;
  const hearsButtons = Boolean(gateway.app_token);
  const { answer, ...posted } = await callSlack(attempt, appOf(gateway), {
    method: "chat.postMessage",
    body: {
      channel: fields.address,
      ...slackDirectMessage(message, { hearsButtons }),
      ...noPreviews,
    },
  });
  const { channel, ts } = answer;
  const isTold = typeof channel === "string" && typeof ts === "string";
  return withRef(posted, isTold ? `${channel}:${ts}` : "");
}

/** Says `message` in place of the one called `ref`, and takes its buttons away. */
export async function editSlackDirect(attempt: Attempt, ref: string): Promise<DirectSent> {
  const { gateway, message } = attempt;
  const [channel, ts] = ref.split(":");
  const content = slackDirectMessage({ ...message, ack: null }, { hearsButtons: false });
  const posted = await callSlack(attempt, appOf(gateway), {
    method: "chat.update",
    body: { channel, ts, ...content },
  });
  return { verdict: posted.verdict };
}

/** In characters. */
const LINES = 2_400;

/** Buttons are `ack` and `resolve`; their value is the handle. */
export function slackDirectMessage(
  { title, lines, link, ack }: DirectMessage,
  { hearsButtons }: { hearsButtons: boolean },
): object {
  const answerUrl = ack?.url ?? null;
  const links = [
    ...(answerUrl === null ? [] : [{ text: "Acknowledge", href: answerUrl }]),
    ...(link === null ? [] : [{ text: "Open", href: link }]),
  ];
  return slackContent({
    title,
    plain: [title, ...lines].filter(Boolean).join("\n"),
    sections: [escapeWithin(lines.filter(Boolean).join("\n"), LINES)],
    buttons: ack !== null && hearsButtons ? buttons(ack.handle) : null,
    below: links.map(slackLink).join(" · "),
  });
}

function buttons(value: string): object {
  return slackButtons([
    { action: "ack", value, label: "Acknowledge", style: "primary" },
    { action: "resolve", value, label: "Resolve" },
  ]);
}
