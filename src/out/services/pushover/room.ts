import * as z from "zod";
import { webUrl } from "../../../ground/kit/flags.ts";
import { codePoints, cut } from "../../../ground/kit/text.ts";
import type { EventBody } from "../../outbox/event.ts";
import { asLine, type Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { urgencyOf } from "../texts.ts";
import { callPushover, LONGEST_MESSAGE, PUSHOVER_API, pushoverFields, pushoverKey } from "./api.ts";

export const pushover = channel({
  kind: "pushover",
  about: "a Pushover user or group, whose phones it rings",
  fields: z.strictObject({
    token: pushoverKey("the application's token"),
    user: pushoverKey("the key of the user or group"),
  }),
  flags: { token: "--token <token>", user: "--user <key>" },
  settings: {
    pushoverApi: {
      flag: "--pushover-api <url>",
      about: "Pushover API (default the public one)",
      usual: PUSHOVER_API,
      read: webUrl,
    },
  },
  send: sendPushover,
});

/** One attempt at one user or group. */
type Attempt = WordsAttempt<{ token: string; user: string }> & {
  settings: { pushoverApi: string };
};

const TIMEOUT_MS = 10_000;
/** From here on a message is an emergency. */
const EMERGENCY_LEVEL = 500;

/** Sends the event; where it says that somebody has the alert or that it is over, its emergencies end first. */
export async function sendPushover(attempt: Attempt): Promise<Posted> {
  const { credentials, event, words } = attempt;
  const stopped = await stopRinging(attempt);
  if (stopped !== null && isTheirFault(stopped)) return stopped;
  const left = (attempt.timeoutMs ?? TIMEOUT_MS) - (stopped?.durationMs ?? 0);
  return callPushover({ ...attempt, timeoutMs: Math.max(1, left) }, apiOf(attempt), {
    path: "messages",
    fields: { user: credentials.user, ...pushoverMessage(event, words) },
  });
}

const apiOf = ({ credentials: { token }, settings }: Attempt) => ({
  apiUrl: settings.pushoverApi,
  token,
});

/** It rings again and again until somebody touches it there; nothing but this tells it that somebody did here. */
async function stopRinging(attempt: Attempt) {
  const { event } = attempt;
  if (urgencyOf(event) !== "silent" || event.level < EMERGENCY_LEVEL) return null;
  return callPushover(attempt, apiOf(attempt), { path: `receipts/cancel_by_tag/${tagOf(event)}` });
}

/** Worth another attempt before the message goes; what Pushover refuses to cancel isn't there. */
function isTheirFault({ verdict }: Posted): boolean {
  return (
    verdict.kind !== "delivered" && !/^http 4(?!29)/.test("error" in verdict ? verdict.error : "")
  );
}

/** What was logged keeps so many characters, whatever stands below it. */
const DETAILS = 500;

export function pushoverMessage(
  event: EventBody,
  words: Message,
): Readonly<Record<string, string>> {
  const { title, facts, details, people, link, links } = words;
  return pushoverFields({
    title,
    text: fitted(details.join("\n"), [...people, ...links.map(asLine)], facts),
    loudness: urgencyOf(event),
    timestamp: event.timestamp,
    link: link === null ? null : { text: "Open", href: link },
    tags: tagOf(event),
  });
}

/** What was logged is cut so that the rest has room below it; of what doesn't fit even so, the facts stay. */
function fitted(details: string, more: readonly string[], facts: string): string {
  let room = LONGEST_MESSAGE - Math.min(DETAILS, codePoints(details)) - codePoints(facts) - 2;
  const kept = more.filter((line) => {
    const isIn = codePoints(line) < room;
    if (isIn) room -= codePoints(line) + 1;
    return isIn;
  });
  const below = [...kept, facts].filter(Boolean);
  const logged = cut(details, LONGEST_MESSAGE - codePoints(below.join("\n")) - 2);
  return [logged === details ? logged : `${logged}…`, ...below].filter(Boolean).join("\n");
}

/** Letters and digits only, since tags are parted by commas. */
function tagOf({ tenant_id: tenant, alert_id: alert }: EventBody): string {
  return `box${tenant}alert${alert}`;
}
