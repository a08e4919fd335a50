import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { ellipsis } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { contactKind, type DirectAttempt, gatewayKind } from "../contact-kind.ts";
import {
  type DirectMessage,
  type DirectSent,
  loudnessOfDirect,
  withRef,
} from "../direct-message.ts";
import { lookAt, refusedFor, under } from "../post.ts";
import {
  callPushover,
  LONGEST_MESSAGE,
  PUSHOVER_API,
  pushoverFields,
  pushoverKey,
  pushoverRefusals,
} from "./api.ts";

/** The tenant's application. */
const application = z.strictObject({
  token: pushoverKey("the application's token"),
  url: text(2048).optional().meta({ description: "its API, the public one if left out" }),
});
export type PushoverGateway = z.output<typeof application>;

const pushoverGateway = gatewayKind({
  kind: "pushover",
  about: "a Pushover application",
  fields: application,
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["token"] },
  refuses: pushoverRefusals.token,
  prove: ({ gateway, egress, now }) => {
    const { apiUrl, token } = apiOf(gateway);
    const url = `${apiUrl}/1/apps/limits.json?${new URLSearchParams({ token })}`;
    return lookAt({ egress, now }, { url, isYes: ({ status }) => status === 1 });
  },
});

export function apiOf({ token, url = "" }: PushoverGateway): { apiUrl: string; token: string } {
  return { apiUrl: under(url || PUSHOVER_API, ""), token };
}

export const pushoverContact = contactKind({
  kind: "pushover",
  about: "a person's Pushover app, which rings until somebody answers",
  gateway: pushoverGateway,
  fields: z.strictObject({ address: pushoverKey("the person's user key") }),
  gone: pushoverRefusals.gone,
  notes: true,
  send: sendPushoverDirect,
  // The emergency rings on until it is told to stop.
  edit: stopPushover,
});

/** Sends a message; a page of level 500 is an emergency, whose receipt is `ref`. Other messages have none. */
export async function sendPushoverDirect(
  attempt: DirectAttempt<PushoverGateway>,
): Promise<DirectSent> {
  const { gateway, fields, message, now } = attempt;
  const answered = await callPushover(attempt, apiOf(gateway), {
    path: "messages",
    fields: { user: fields.address, ...pushoverDirectFields(message, now) },
  });
  const posted = refusedFor(answered, ({ user }) => user === "invalid");
  return withRef(posted, posted.answer["receipt"]);
}

export function pushoverDirectFields(message: DirectMessage, now: number): Record<string, string> {
  const { title, lines, link, ack } = message;
  const [href, named] = ack?.url ? [ack.url, "Acknowledge"] : [link, "Open"];
  return pushoverFields({
    title,
    text: ellipsis(lines.filter(Boolean).join("\n"), LONGEST_MESSAGE - 1),
    loudness: loudnessOfDirect(message),
    timestamp: Math.floor(now / 1_000),
    link: href === null ? null : { text: named, href },
  });
}

/** Ends an emergency's ringing. One that is over, or that Pushover doesn't know, has nothing to end: `delivered`. */
export async function stopPushover(
  attempt: Via & { gateway: PushoverGateway },
  ref: string,
): Promise<DirectSent> {
  const path = `receipts/${encodeURIComponent(ref)}/cancel`;
  const { verdict, answer } = await callPushover(attempt, apiOf(attempt.gateway), { path });
  const isGone = verdict.kind === "later" && answer["receipt"] === "not found";
  return { verdict: isGone ? { kind: "delivered", status: 404 } : verdict };
}
