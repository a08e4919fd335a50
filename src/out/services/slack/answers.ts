import type { Via } from "../../outbox/senders/sent.ts";
import { type Answer, jsonIn, objectIn } from "../post.ts";
import { callSlack } from "./api.ts";
import { appOf, type SlackGateway } from "./person.ts";

/** What Slack says to an app over Socket Mode, and what the app says back. */

/** Somebody pressed a button of the app's. */
export interface SlackPress {
  /** The presser's member id. */
  user: string;
  channel: string | null;
  /** The button's own name and value. */
  action: string;
  value: string;
  /** The message that the button stands in, as Slack has it; null where it says nothing of it. */
  message: { ts: string; text: string; blocks: readonly unknown[] } | null;
}

/** One message of the line. */
type SlackSaid =
  | { kind: "hello" }
  /** The line ends soon: a new one is to be opened first. `isOff`: Socket Mode was switched off for the app. */
  | { kind: "leave"; isOff: boolean }
  /** To be confirmed by its id within three seconds; null where it is nothing for a box. */
  | { kind: "envelope"; id: string; press: SlackPress | null }
  | { kind: "other" };

/** Asks for a line: an address that is good once. `isFinal`: asking again soon can't help. */
export async function askSlackForLine(
  via: Via,
  gateway: SlackGateway,
): Promise<{ url: string } | { error: string; isFinal: boolean; retryAfterMs?: number }> {
  const { app_token: token = "" } = gateway;
  const { verdict, answer } = await callSlack(via, appOf(gateway, token), {
    method: "apps.connections.open",
    body: {},
  });
  const { url } = answer;
  if (verdict.kind === "delivered" && typeof url === "string" && /^wss?:\/\//.test(url))
    return { url };
  if (verdict.kind === "delivered") return { error: "bad_response", isFinal: false };
  const asked = verdict.kind === "later" ? verdict.retryAfterMs : undefined;
  return {
    error: verdict.error,
    isFinal: verdict.kind === "never",
    ...(asked !== undefined && { retryAfterMs: asked }),
  };
}

/** What a text of the line says; what isn't as documented is nothing. */
export function readSlackSaid(text: string): SlackSaid {
  const said = jsonIn(text);
  if (said["type"] === "hello") return { kind: "hello" };
  if (said["type"] === "disconnect")
    return { kind: "leave", isOff: said["reason"] === "link_disabled" };
  const { envelope_id: id, payload } = said;
  if (typeof id !== "string" || id === "") return { kind: "other" };
  return { kind: "envelope", id, press: pressIn(objectIn(payload)) };
}

function pressIn({ type, user, channel, actions, message }: Answer): SlackPress | null {
  if (type !== "block_actions" || !Array.isArray(actions)) return null;
  const { id } = objectIn(user);
  const { id: room } = objectIn(channel);
  const { action_id: action, value } = objectIn(actions[0]);
  if (typeof id !== "string" || typeof action !== "string" || typeof value !== "string")
    return null;
  const where = typeof room === "string" ? room : null;
  return { user: id, channel: where, action, value, message: messageIn(objectIn(message)) };
}

function messageIn({ ts, text, blocks }: Answer): SlackPress["message"] {
  if (typeof ts !== "string" || typeof text !== "string" || !Array.isArray(blocks)) return null;
  return { ts, text, blocks };
}

/** How an envelope is confirmed. */
export const confirmSlack = (id: string): string => JSON.stringify({ envelope_id: id });

/** Says something to one person in a channel, which nobody else sees there. */
export async function tellSlackMember(
  via: Via,
  gateway: SlackGateway,
  what: { channel: string; user: string; text: string },
): Promise<void> {
  await callSlack(via, appOf(gateway), { method: "chat.postEphemeral", body: what });
}

/** Takes the buttons of a message in a channel away. */
export async function dropSlackButtons(
  via: Via,
  gateway: SlackGateway,
  { channel, message }: { channel: string; message: NonNullable<SlackPress["message"]> },
): Promise<void> {
  const { ts, text } = message;
  const blocks = message.blocks.filter((block) => objectIn(block)["type"] !== "actions");
  await callSlack(via, appOf(gateway), {
    method: "chat.update",
    body: { channel, ts, text, blocks },
  });
}
