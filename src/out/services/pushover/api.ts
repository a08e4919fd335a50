import { text } from "../../../ground/kit/fields.ts";
import { cut } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type Answer, type Answered, postForm, unlessTaken } from "../post.ts";
import type { Urgency } from "../texts.ts";

export const PUSHOVER_API = "https://api.pushover.net";

/** Both are 30 letters and digits; blank is as good as left out. */
export function pushoverKey(description: string) {
  return text(30)
    .regex(/^([A-Za-z0-9]{30})?$/, { error: "must be 30 letters and digits" })
    .meta({ description });
}

/** What Pushover's refusals mean, by the field that it takes for wrong; after any other another attempt may get through. */
export const pushoverRefusals = { token: /: token invalid$/, gone: /: user invalid$/ };

/** Pushover asks not to be called faster than this after a failure of its own. */
const SLOWEST_RETRY_MS = 5_000;

/** In characters. */
const TITLE = 250;
export const LONGEST_MESSAGE = 1_024;
const LONGEST_URL = 512;

const PRIORITIES: Readonly<Record<Urgency, number>> = {
  through: 2,
  rings: 1,
  usual: 0,
  silent: -1,
};

type Fields = Readonly<Record<string, string>>;

/**
 * A message's fields. No HTML is asked for, so there is no markup. What comes through is an emergency: it rings every minute
 * for fifty minutes, as often as it rings in one, and `tags` is what it can be ended by.
 */
export function pushoverFields(message: {
  title: string;
  text: string;
  loudness: Urgency;
  timestamp: number;
  link: { text: string; href: string } | null;
  tags?: string;
}): Fields {
  const { loudness, timestamp, link, tags } = message;
  const title = cut(message.title, TITLE);
  return {
    title,
    message: message.text || title,
    priority: String(PRIORITIES[loudness]),
    timestamp: String(timestamp),
    ...(link !== null &&
      link.href.length <= LONGEST_URL && { url: link.href, url_title: link.text }),
    ...(loudness === "through" && { retry: "60", expire: "3600", ...(tags && { tags }) }),
  };
}

/** Calls the API; errors say which field is wrong, `user invalid`, and nothing of what was in it. */
export async function callPushover(
  via: Via,
  { apiUrl, token }: { apiUrl: string; token: string },
  { path, fields = {} }: { path: string; fields?: Fields },
): Promise<Answered> {
  const url = `${apiUrl}/1/${path}.json`;
  const answered = await postForm(via, url, { body: { token, ...fields }, why });
  return withPause(unlessTaken(answered, ({ status }) => status === 1));
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
