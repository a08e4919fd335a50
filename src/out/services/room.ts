import { z } from "zod";
import { text } from "../../ground/kit/fields.ts";
import type { EventBody } from "../outbox/event.ts";
import { asLine, type Message, plainText } from "../outbox/message.ts";
import type { Link } from "../outbox/said.ts";
import {
  httpError,
  limitsOf,
  type Posted,
  serverTime,
  type Via,
  verdictOf,
} from "../outbox/senders/sent.ts";

/** What kinds of channel have in common: a request and its answer, how loud an event is, texts that must not act. */

/** The part of a kind whose rooms take messages at an address that is the credential as a whole. */
export const incomingWebhook = {
  fields: z.strictObject({
    webhook_url: text(2048).meta({
      description: "the incoming webhook's address, a credential as a whole",
    }),
  }),
  addresses: ["webhook_url"],
  flags: { webhook_url: "<webhook-url>" },
  shown: ({ webhook_url: url }: { webhook_url: string }) => new URL(url).origin,
} as const;

/** One attempt at one room. */
export interface RoomRequest {
  webhookUrl: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
}

/** The alert that a message in a room can be acknowledged for; null where it is no call for somebody, or names several. */
export function takenFor({ event, alert_id: id }: EventBody): string | null {
  const calls = ["alert.opened", "alert.escalated", "alert.renotified"].includes(event);
  return calls && /^\d{1,15}$/.test(id) ? id : null;
}

/** The longest answer that any of them gives: Slack's repeats the message, in escapes of six bytes a character. */
const MOST_BYTES = 65_536;

export interface Post<B = object> {
  /** Default: POST. */
  method?: "PUT";
  headers?: Readonly<Record<string, string>>;
  body: B;
  /** What the answer says of a refusal, where it says it in a word. */
  why: (answer: Answer) => unknown;
}

/** How it went, and what was answered. */
export type Answered = Posted & { answer: Answer };

/** Posts JSON. Only a word or a short name of a refusal gets into the error: receivers echo, and what they got is secret. */
export function postJson(
  via: Via,
  url: string,
  { headers, body, ...rest }: Post,
): Promise<Answered> {
  const sent = { "Content-Type": "application/json", ...headers };
  return post(via, url, { ...rest, headers: sent, body: JSON.stringify(body) });
}

/** Fields of a form: by name, or one after the other where a name stands twice. */
type FormFields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** The same with a form. */
export function postForm(
  via: Via,
  url: string,
  { headers, body, ...rest }: Post<FormFields>,
): Promise<Answered> {
  const sent = { "Content-Type": "application/x-www-form-urlencoded", ...headers };
  return post(via, url, {
    ...rest,
    headers: sent,
    body: new URLSearchParams(body as Record<string, string>).toString(),
  });
}

async function post(
  via: Via,
  url: string,
  { why, ...request }: Post<string> & { headers: Readonly<Record<string, string>> },
): Promise<Answered> {
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "POST",
    ...request,
    url,
    maxBytes: MOST_BYTES,
  });
  const answer = readAnswer(result.body);
  const word = why(answer);
  const isWord = typeof word === "string" && /^[A-Za-z][A-Za-z_. ]{0,59}$/.test(word);
  const verdict = verdictOf(result, via.now, isWord ? word : "");
  return { verdict, durationMs: result.durationMs, serverTime: serverTime(result), answer };
}

/** An answer's JSON object; empty where it is anything else. */
export type Answer = Readonly<Record<string, unknown>>;

function readAnswer(json: string): Answer {
  try {
    return objectIn(JSON.parse(json));
  } catch {
    return {};
  }
}

/** No other attempt can help: where the service says so by a code of its own, not a proxy by its number. */
export function refusedFor(answered: Answered, isForGood: (answer: Answer) => boolean): Answered {
  const { verdict, answer } = answered;
  if (verdict.kind !== "later" || !isForGood(answer)) return answered;
  return { ...answered, verdict: { kind: "never", error: verdict.error } };
}

/** A success that doesn't say what a service says when it took a message: a proxy in its place took nothing. */
export function unlessTaken(answered: Answered, isTaken: (answer: Answer) => boolean): Answered {
  const { verdict, answer } = answered;
  if (verdict.kind !== "delivered" || isTaken(answer)) return answered;
  const error = httpError(verdict.status, "not accepted");
  return { ...answered, verdict: { kind: "later", error } };
}

/** A field that should be an object; empty where it is anything else. */
export function objectIn(value: unknown): Answer {
  return typeof value === "object" && value !== null ? (value as Answer) : {};
}

/** The address with a word in its query. */
export function withQuery(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}

/** How a message looks: the worse, the redder. */
export type Mood = "critical" | "bad" | "warning" | "seen" | "over";

export function moodOf({ event, level }: EventBody): Mood {
  if (event === "alert.resolved") return "over";
  if (event === "alert.acknowledged" || event === "alert.test") return "seen";
  if (event === "integration.disabled") return "bad";
  return level >= 500 ? "critical" : level >= 400 ? "bad" : "warning";
}

/** How a message sounds on a phone; `through` also rings where the phone is set to be still. */
export type Loudness = "through" | "rings" | "usual" | "silent";

/** What rings is what somebody should do; what ended is only shown. */
export function loudnessOf({ event, level }: EventBody): Loudness {
  if (event === "alert.acknowledged" || event === "alert.resolved") return "silent";
  if (event === "integration.disabled") return "rings";
  if (event === "alert.test") return "usual";
  if (level >= 500) return "through";
  return level >= 400 || event === "alert.escalated" ? "rings" : "usual";
}

const ZERO_WIDTH = "\u200b";

/**
 * One line with nothing in it that Markdown acts on, and no @ that could call somebody: some servers look for
 * names behind an escape, too, so what follows an @ is parted from it by a space of no width.
 */
export function plainMarkdown(line: string): string {
  return line.replace(/[\\*_~`|<>[\]()#]|:(?=\S)/g, "\\$&").replaceAll("@", `@${ZERO_WIDTH}`);
}

/**
 * Lines as a block of code, where no markup, link or name counts; at most `most` UTF-16 units with its fence, which
 * nothing in it can end.
 */
export function codeBlock(lines: readonly string[], most: number): string {
  const inside = lines.join("\n").replace(/`(?=`)/g, `\`${ZERO_WIDTH}`);
  return `\`\`\`\n${shortened(inside, most - 8)}\n\`\`\``;
}

/** A link in Markdown; nothing in its name or address ends it, or calls somebody. */
export function markdownLink({ text, href }: Link): string {
  const address = href.replace(/[()<>@\\\s]/g, (char) =>
    char === "(" ? "%28" : char === ")" ? "%29" : encodeURIComponent(char),
  );
  return `[${plainMarkdown(text)}](${address})`;
}

/** Parts in one text, at most `most` UTF-16 units: what doesn't fit any more is left out whole. */
export function partsWithin(parts: readonly string[], most: number, between = "\n"): string {
  let text = "";
  for (const part of parts) {
    const longer = text === "" ? part : text + between + part;
    if (longer.length <= most) text = longer;
  }
  return text;
}

/** At most `most` UTF-16 units, never half a character; what is cut ends in `…`. */
export function shortened(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  return `${whole.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The message as plain text of at most `most` UTF-16 units: words are cut, addresses are whole or left out. */
export function plainWithin(words: Message, most: number): string {
  const { link, links } = words;
  const addresses = [...(link === null ? [] : [link]), ...links.map(asLine)];
  const shown = partsWithin(addresses, Math.floor(most / 2));
  const end = shown === "" ? "" : `\n${shown}`;
  return shortened(plainText({ ...words, link: null, links: [] }), most - end.length) + end;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes &, < and >, ending whole within `most` characters however much the escapes add. */
export function escapeWithin(plain: string, most: number): string {
  let escaped = "";
  for (const char of plain) {
    const next = ESCAPES[char] ?? char;
    if (escaped.length + next.length > most) return escaped;
    escaped += next;
  }
  return escaped;
}
