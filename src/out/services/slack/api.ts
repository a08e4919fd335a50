import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { type Answer, type Answered, postJson, refusedFor, unlessTaken } from "../room.ts";

/** An app of a workspace: where its methods are, and its bot's token. */
export interface SlackApp {
  /** `https://slack.com/api`, or a server of one's own. */
  apiUrl: string;
  /** `xoxb-…`. */
  token: string;
}

/** Posts what `content` says. Slack answers 200 whatever happened: what counts is its `ok`. */
export async function postAsApp(
  via: Via,
  { channel, ...app }: SlackApp & { channel: string },
  content: object,
): Promise<Posted> {
  const { answer, ...posted } = await callSlack(via, app, {
    method: "chat.postMessage",
    body: { channel, ...content },
  });
  return posted;
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
  return refusedFor(saidNo(answered), ({ error }) => FOR_GOOD.has(error));
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

/** No other attempt of this message can get through, whatever the hour. */
const FOR_GOOD: ReadonlySet<unknown> = new Set([
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
]);
