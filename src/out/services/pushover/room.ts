import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { webUrl } from "../../../ground/kit/flags.ts";
import { codePoints, cut } from "../../../ground/kit/text.ts";
import type { EventBody } from "../../outbox/event.ts";
import { asLine, type Message } from "../../outbox/message.ts";
import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import {
  type Answer,
  type Answered,
  type Loudness,
  loudnessOf,
  postForm,
  unlessTaken,
} from "../room.ts";

/** Both are 30 letters and digits; blank is as good as left out. */
function key(description: string) {
  return text(30)
    .regex(/^([A-Za-z0-9]{30})?$/, { error: "must be 30 letters and digits" })
    .meta({ description });
}

export const pushover = channel({
  kind: "pushover",
  about: "a Pushover user or group, whose phones it rings",
  fields: z.strictObject({
    token: key("the application's token"),
    user: key("the key of the user or group"),
  }),
  flags: { token: "--token <token>", user: "--user <key>" },
  settings: {
    pushoverApi: {
      flag: "--pushover-api <url>",
      about: "Pushover API (default the public one)",
      usual: "https://api.pushover.net",
      read: webUrl,
    },
  },
  send: ({ credentials, event, words, egress, now, settings }) =>
    sendPushover({ egress, now }, { ...credentials, apiUrl: settings.pushoverApi, event, words }),
});

/** One attempt at one user or group. */
export interface PushoverRequest {
  apiUrl: string;
  token: string;
  user: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
}

const TIMEOUT_MS = 10_000;
/** Pushover asks not to be called faster than this after a failure of its own. */
const SLOWEST_RETRY_MS = 5_000;

/** Sends the event; where it says that somebody has the alert or that it is over, its emergencies end first. */
export async function sendPushover(via: Via, request: PushoverRequest): Promise<Posted> {
  const { apiUrl, token, user, event, words } = request;
  const stopped = await stopRinging(via, request);
  if (stopped !== null && isTheirFault(stopped)) return stopped;
  const left = (via.timeoutMs ?? TIMEOUT_MS) - (stopped?.durationMs ?? 0);
  const { answer, ...posted } = await callPushover(
    { ...via, timeoutMs: Math.max(1, left) },
    { apiUrl, token },
    { path: "messages", fields: { user, ...pushoverMessage(event, words) } },
  );
  return posted;
}

/** Calls the API; errors say which field is wrong, `user invalid`, and nothing of what was in it. */
export async function callPushover(
  via: Via,
  { apiUrl, token }: { apiUrl: string; token: string },
  { path, fields = {} }: { path: string; fields?: Readonly<Record<string, string>> },
): Promise<Answered> {
  const url = `${apiUrl}/1/${path}.json`;
  const answered = await postForm(via, url, { body: { token, ...fields }, why });
  return withPause(unlessTaken(answered, ({ status }) => status === 1));
}

/** It rings again and again until somebody touches it there; nothing but this tells it that somebody did here. */
async function stopRinging(via: Via, { apiUrl, token, event }: PushoverRequest) {
  if (loudnessOf(event) !== "silent" || event.level < EMERGENCY_LEVEL) return null;
  const path = `receipts/cancel_by_tag/${tagOf(event)}`;
  const { answer, ...posted } = await callPushover(via, { apiUrl, token }, { path });
  return posted;
}

/** Worth another attempt before the message goes; what Pushover refuses to cancel isn't there. */
function isTheirFault({ verdict }: Posted): boolean {
  return (
    verdict.kind !== "delivered" && !/^http 4(?!29)/.test("error" in verdict ? verdict.error : "")
  );
}

function withPause(answered: Answered): Answered {
  const { verdict } = answered;
  if (verdict.kind !== "later" || !/^http 5/.test(verdict.error)) return answered;
  const retryAfterMs = Math.max(verdict.retryAfterMs ?? 0, SLOWEST_RETRY_MS);
  return { ...answered, verdict: { ...verdict, retryAfterMs } };
}

/** Which of what it was sent Pushover takes for wrong: `user invalid`. */
function why(answer: Answer): string | undefined {
  const wrong = ["token", "user", "message"].find((name) => typeof answer[name] === "string");
  return wrong && `${wrong} ${answer[wrong]}`;
}

/** In characters. */
const TITLE = 250;
const MESSAGE = 1_024;
const URL = 512;
/** What was logged keeps so much room, whatever stands below it. */
const DETAILS = 500;
/** From here on a message is an emergency: it rings through, every minute for fifty minutes. */
const EMERGENCY_LEVEL = 500;
const PRIORITIES: Readonly<Record<Loudness, number>> = {
  through: 2,
  rings: 1,
  usual: 0,
  silent: -1,
};

/** The message's fields. No HTML is asked for, so there is no markup. */
export function pushoverMessage(
  event: EventBody,
  words: Message,
): Readonly<Record<string, string>> {
  const { title, facts, details, people, link, links } = words;
  const priority = PRIORITIES[loudnessOf(event)];
  return {
    title: cut(title, TITLE),
    message: fitted(details.join("\n"), [...people, ...links.map(asLine)], facts) || title,
    priority: String(priority),
    timestamp: String(event.timestamp),
    ...(link !== null && link.length <= URL && { url: link, url_title: "Open" }),
    ...(priority === 2 && { retry: "60", expire: "3600", tags: tagOf(event) }),
  };
}

/** What was logged is cut so that the rest has room below it; of what doesn't fit even so, the facts stay. */
function fitted(details: string, more: readonly string[], facts: string): string {
  let room = MESSAGE - Math.min(DETAILS, codePoints(details)) - codePoints(facts) - 2;
  const kept = more.filter((line) => {
    const isIn = codePoints(line) < room;
    if (isIn) room -= codePoints(line) + 1;
    return isIn;
  });
  const below = [...kept, facts].filter(Boolean);
  const logged = cut(details, MESSAGE - codePoints(below.join("\n")) - 2);
  return [logged === details ? logged : `${logged}…`, ...below].filter(Boolean).join("\n");
}

/** Letters and digits only, since tags are parted by commas. */
function tagOf({ tenant_id: tenant, alert_id: alert }: EventBody): string {
  return `box${tenant}alert${alert}`;
}
