import type { Link } from "../../outbox/event-names.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type Answer, type Answered, postJson, refusedFor, unlessTaken } from "../post.ts";
import { escapeWithin } from "../texts.ts";

/** Where the apps of whoever names no server are. */
export const SLACK_API = "https://slack.com/api";

/** What Slack's one-word refusals mean; after any other another attempt may get through. */
export const slackRefusals = {
  /** The gateway's settings are refused. */
  settings:
    /^slack: (invalid_auth|not_authed|token_revoked|token_expired|account_inactive|missing_scope|no_permission)$/,
  /** The person is gone there. */
  gone: /^slack: user_disabled$/,
  /** No other attempt of this message can get through, whatever the hour. */
  forGood: new Set<unknown>([
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "user_not_found",
    "user_disabled",
    "cannot_dm_bot",
    "messages_tab_disabled",
    "restricted_action",
    "message_not_found",
    "token_revoked",
    "token_expired",
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "missing_scope",
    "no_permission",
    "cant_update_message",
    "edit_window_closed",
    "invalid_blocks",
    "msg_too_long",
    "no_text",
  ]),
};

/** An app of a workspace: where its methods are, and its bot's token. */
export interface SlackApp {
  /** `https://slack.com/api`, or a server of one's own. */
  apiUrl: string;
  /** `xoxb-…`. */
  token: string;
}

/** Calls a method of the Web API. Errors hold Slack's one-word answer, never the token. */
export async function callSlack(
  via: Via,
  { apiUrl, token }: SlackApp,
  { method, body }: { method: string; body: object },
): Promise<Answered> {
  const answered = await postJson(via, `${apiUrl}/${method}`, {
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      Authorization: `Bearer ${token}`,
    },
    body,
    why: ({ error }) => error,
  });
  return refusedFor(saidNo(answered), ({ error }) => slackRefusals.forGood.has(error));
}

/** A 200 that says no: its error is told as a refusal's is. */
function saidNo(answered: Answered): Answered {
  const { verdict, answer } = answered;
  if (verdict.kind !== "delivered" || answer["ok"] !== false || !isWord(answer))
    return unlessTaken(answered, ({ ok }) => ok === true);
  return { ...answered, verdict: { kind: "later", error: `slack: ${answer["error"]}` } };
}

function isWord({ error }: Answer): boolean {
  return typeof error === "string" && /^[a-z][a-z_]{0,39}$/.test(error);
}

/** In characters; Slack's own limits are 150, 3,000 and, for all of it, 4,000 that are shown well. */
const HEADER = 150;
const FALLBACK = 700;

/**
 * A message: blocks, and a text for notifications. Nothing is parsed for names, so no log line can mention anyone. Sections
 * and `below` are escaped; what is empty is left out.
 */
export function slackContent(message: {
  title: string;
  plain: string;
  sections: readonly string[];
  buttons: object | null;
  /** Small print: facts and links. */
  below: string;
}): object {
  const { title, plain, sections, buttons, below } = message;
  return {
    text: escapeWithin(plain, FALLBACK),
    blocks: [
      { type: "header", text: { type: "plain_text", text: escapeWithin(title, HEADER) } },
      ...sections.filter(Boolean).map((text) => ({ type: "section", text: markdown(text) })),
      ...(buttons === null ? [] : [buttons]),
      ...(below === "" ? [] : [{ type: "context", elements: [markdown(below)] }]),
    ],
    parse: "none",
    link_names: false,
  };
}

/** Links in a message aren't fetched for a preview. */
export const noPreviews = { unfurl_links: false, unfurl_media: false };

/** `verbatim`: names and channels in it stay text. */
function markdown(escaped: string): object {
  return { type: "mrkdwn", text: escaped, verbatim: true };
}

export function slackLink({ text, href }: Link): string {
  const name = escapeWithin(text.replaceAll("|", "/"), 100);
  return `<${href.replace(/[<>|\s]/g, encodeURIComponent).replaceAll("&", "&amp;")}|${name}>`;
}

interface SlackButton {
  action: string;
  value: string;
  label: string;
  style?: "primary";
}

export function slackButtons(buttons: readonly SlackButton[]): object {
  const elements = buttons.map(({ action, value, label, style }) => ({
    type: "button",
    action_id: action,
    value,
    ...(style && { style }),
    text: { type: "plain_text", text: label },
  }));
  return { type: "actions", elements };
}
