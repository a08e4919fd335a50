import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { type Answer, onServer, postJson, unlessTaken } from "../post.ts";
import { plainWithin } from "../texts.ts";

/** Signal has no interface for programs: what sends is a client that others wrote, behind a server of one's own. */
export const signal = channel({
  kind: "signal",
  about: "a Signal user or group, by a signal-cli-rest-api server (unofficial)",
  fields: z.strictObject({
    recipient: text(128)
      .regex(/^(\+[1-9]\d{4,14}|[0-9a-fA-F-]{36}|group\.[A-Za-z0-9+/=_-]{1,120})?$/, {
        error: "must be a number as +15550001111, a user's id or group.…",
      })
      .meta({ description: "a number with its +, a user's id, or a group as group.…" }),
    server: text(2048).meta({ description: "the server's address" }),
    number: text(16)
      .regex(/^(\+[1-9]\d{4,14})?$/, { error: "must be a number as +15550001111" })
      .meta({ description: "the number that is registered there, with its +" }),
  }),
  addresses: ["server"],
  sent: { where: ["server"], secrets: ["recipient", "number"] },
  flags: { recipient: "<recipient>", server: "--server <url>", number: "--number <number>" },
  shown: ({ server }) => new URL(server).origin,
  send: sendSignal,
});

/** Sends the event. The server has no ids for attempts: one that timed out may come twice. */
export async function sendSignal(
  attempt: WordsAttempt<{ server: string; number: string; recipient: string }>,
): Promise<Posted> {
  const { server, number, recipient } = attempt.credentials;
  const answered = await postJson(attempt, onServer(server, "/v2/send"), {
    body: {
      message: signalText(attempt.words),
      number,
      recipients: [recipient],
      text_mode: "normal",
    },
    why,
  });
  // It answers the message's time as text.
  return unlessTaken(answered, ({ timestamp }) => Number(timestamp) > 0);
}

/** Apps fold what is longer, and the server would send it as a file. */
const LONGEST = 2_000;

/** Plain text, where no character is markup. */
export function signalText(words: Message): string {
  return plainWithin(words, LONGEST);
}

/** Its errors are sentences with numbers in them: only a known one is told, by a name. */
function why({ error }: Answer): string | undefined {
  if (typeof error !== "string") return undefined;
  return REASONS.find(([sign]) => sign.test(error))?.[1];
}

const REASONS: readonly [sign: RegExp, reason: string][] = [
  [/captcha|challenge/i, "a captcha is asked for"],
  [/rate.?limit|\b429\b/i, "rate limit"],
  [/unregistered/i, "recipient not registered"],
  [/not registered|not found|no such account/i, "number not registered at the server"],
  [/untrusted identity/i, "untrusted identity"],
  [/group/i, "group"],
];
