import type { Via } from "../../outbox/senders/sent.ts";
import { jsonIn, under } from "../post.ts";
import { NTFY_SERVER, ntfyLogin } from "./api.ts";

/**
 * Answers by ntfy where the phone can't reach the box: its button writes into a second topic, which the box reads. Who
 * reads along in the first topic can answer, too; the second must take messages of anybody, since a button has no login.
 */
interface NtfyAnswers {
  /** The server's address; empty: the public one. */
  url?: string | undefined;
  access_token?: string | undefined;
  /** The topic for answers. */
  topic: string;
}

const topicUrl = ({ url = "", topic }: NtfyAnswers) =>
  under(url || NTFY_SERVER, `/${encodeURIComponent(topic)}`);

/** Buttons for a notification's `actions`: each posts `ack HANDLE` or `resolve HANDLE`. */
export function ntfyAnswerActions(answers: NtfyAnswers, handle: string): object[] {
  const act = (label: string, verb: string) =>
    ntfyButton(label, {
      url: topicUrl(answers),
      headers: { Priority: "min" },
      body: `${verb} ${handle}`,
    });
  return [act("Acknowledge", "ack"), act("Resolve", "resolve")];
}

/** A button with which the phone itself posts. */
export function ntfyButton(
  label: string,
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
): object {
  return { action: "http", label, url, method: "POST", clear: true, headers, body };
}

/** An answer as it was written; whether the handle is one is for others to say. */
interface NtfyAnswer {
  verb: "acknowledge" | "resolve";
  handle: string;
}

/** A topic that is filled by strangers is read so far at a time. */
const MOST_BYTES = 262_144;
/** What was answered while the box was down for longer is no answer any more. */
const FIRST_LOOK = "1h";

/**
 * Reads what was answered after `last`, a message's id or `""` for the last hour. null: not to be had now. The answer's
 * `last` is where the next look goes on. Servers keep messages for hours, so a look that failed loses none.
 */
export async function readNtfyAnswers(via: Via, answers: NtfyAnswers, last: string) {
  const { access_token: token = "" } = answers;
  const query = new URLSearchParams({ poll: "1", since: last === "" ? FIRST_LOOK : last });
  const { status, error, body } = await via.egress.send({
    method: "GET",
    url: `${topicUrl(answers)}/json?${query}`,
    maxBytes: MOST_BYTES,
    headers: ntfyLogin(token),
  });
  if (status !== 200 || error !== null) return null;
  const messages = body.split("\n").flatMap(messageIn);
  return {
    answers: messages.flatMap(({ text }) => answerIn(text)),
    last: messages.at(-1)?.id ?? last,
  };
}

/** A line that is cut off, or is no message, says nothing. */
function messageIn(line: string): { id: string; text: string }[] {
  const { id, event, message } = jsonIn(line);
  const isOne = event === "message" && typeof id === "string" && typeof message === "string";
  return isOne && /^[\w-]{1,64}$/.test(id) ? [{ id, text: message }] : [];
}

function answerIn(text: string): NtfyAnswer[] {
  const [, verb, handle] = /^(ack|resolve) ([A-Za-z0-9]{1,32})$/.exec(text) ?? [];
  if (verb === undefined || handle === undefined) return [];
  return [{ verb: verb === "ack" ? "acknowledge" : "resolve", handle }];
}
