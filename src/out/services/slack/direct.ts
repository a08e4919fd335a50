import type { Via } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, withRef } from "../direct-message.ts";
import { escapeWithin } from "../room.ts";
import { callSlack } from "./api.ts";
import { slackLink, slackMarkdown } from "./room.ts";

/** The tenant's app. */
export interface SlackGateway {
  /** `xoxb-…`, with the scope `chat:write`. */
  bot_token: string;
  /** `xapp-…`: with it the box hears buttons; without, a page has a link in their place. */
  app_token?: string | undefined;
  /** A server of one's own; empty: the public one. */
  url?: string | undefined;
}

/** One attempt at one person. */
export interface SlackDirect {
  gateway: SlackGateway;
  /** `U…`, the person's id. */
  address: string;
  message: DirectMessage;
}

/** Where the apps of whoever names no server are. */
export const SLACK_API = "https://slack.com/api";

/** Sends a direct message. `ref` is `D…:ts`, the conversation and the message. */
export async function sendSlackDirect(via: Via, request: SlackDirect): Promise<DirectSent> {
  const { gateway, address, message } = request;
  const hearsButtons = Boolean(gateway.app_token);
  const { answer, ...posted } = await call(via, gateway, {
    method: "chat.postMessage",
    body: {
      channel: address,
      ...slackDirectMessage(message, { hearsButtons }),
      unfurl_links: false,
      unfurl_media: false,
    },
  });
  const { channel, ts } = answer;
  const isTold = typeof channel === "string" && typeof ts === "string";
  return withRef(posted, isTold ? `${channel}:${ts}` : "");
}

/** Says `message` in place of the one called `ref`, and takes its buttons away. */
export async function editSlackDirect(
  via: Via,
  { gateway, message }: SlackDirect,
  ref: string,
): Promise<DirectSent> {
  const [channel, ts] = ref.split(":");
  const content = slackDirectMessage({ ...message, ack: null }, { hearsButtons: false });
  const posted = await call(via, gateway, {
    method: "chat.update",
    body: { channel, ts, ...content },
  });
  return { verdict: posted.verdict };
}

function call(
  via: Via,
  { bot_token: token, url = "" }: SlackGateway,
  what: { method: string; body: object },
) {
  return callSlack(via, { apiUrl: (url || SLACK_API).replace(/\/+$/, ""), token }, what);
}

/** In characters; Slack's own limits are 150 and 3,000, and for the text 4,000 that are shown well. */
const TITLE = 150;
const LINES = 2_400;
const FALLBACK = 700;

/** Blocks and a text for notifications. Buttons are `ack` and `resolve`; their value is the handle. */
export function slackDirectMessage(
  { title, lines, link, ack }: DirectMessage,
  { hearsButtons }: { hearsButtons: boolean },
): object {
  const said = escapeWithin(lines.filter(Boolean).join("\n"), LINES);
  const answerUrl = ack === null ? null : ack.url;
  const links = [
    ...(answerUrl === null ? [] : [slackLink({ text: "Acknowledge", href: answerUrl })]),
    ...(link === null ? [] : [slackLink({ text: "Open", href: link })]),
  ];
  return {
    text: escapeWithin([title, ...lines].filter(Boolean).join("\n"), FALLBACK),
    blocks: [
      { type: "header", text: { type: "plain_text", text: escapeWithin(title, TITLE) } },
      ...(said === "" ? [] : [{ type: "section", text: slackMarkdown(said) }]),
      ...(ack !== null && hearsButtons ? [buttons(ack.handle)] : []),
      ...(links.length === 0
        ? []
        : [{ type: "context", elements: [slackMarkdown(links.join(" · "))] }]),
    ],
    parse: "none",
    link_names: false,
  };
}

function buttons(handle: string): object {
  const button = (action: string, label: string, look: object = {}) => ({
    type: "button",
    action_id: action,
    value: handle,
    ...look,
    text: { type: "plain_text", text: label },
  });
  const primary = { style: "primary" };
  return {
    type: "actions",
    elements: [button("ack", "Acknowledge", primary), button("resolve", "Resolve")],
  };
}
