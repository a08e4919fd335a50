import { excessOf } from "../../ground/kit/json.ts";
import type { Sent } from "../outbox/destination.ts";
import { clampRetryAfter } from "../outbox/retry.ts";
import {
  httpError,
  limitsOf,
  type Posted,
  serverTime,
  type Via,
  verdictOf,
} from "../outbox/senders/sent.ts";

/** What services have in common: a request, its answer, and what that means. */

const MOST_BYTES = 65_536;
/** Far more than any answer holds. Values are counted before an answer is parsed: millions would hold up the loop. */
const BOUNDS = { deepest: 64, values: 200_000 };

export interface Post<B = object> {
  /** Default: POST. */
  method?: "PUT";
  headers?: Readonly<Record<string, string>>;
  body: B;
  /** How much of the answer is read; default 65,536, as Slack's repeats the message in escapes of six bytes a character. */
  maxBytes?: number;
  /** What the answer, as an object or as it came, says of a refusal, where it says it in a word. */
  why: (answer: Answer, text: string) => unknown;
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
    maxBytes: MOST_BYTES,
    ...request,
    url,
  });
  const answer = jsonIn(result.body);
  const word = why(answer, result.body);
  const isWord = typeof word === "string" && /^[A-Za-z][A-Za-z_. ]{0,59}$/.test(word);
  const verdict = verdictOf(result, via.now, isWord ? word : "");
  return { verdict, durationMs: result.durationMs, serverTime: serverTime(result), answer };
}

/** An answer's JSON object; empty where it is anything else. */
export type Answer = Readonly<Record<string, unknown>>;

export function jsonIn(json: string): Answer {
  try {
    return excessOf(json, BOUNDS) === null ? objectIn(JSON.parse(json)) : {};
  } catch {
    return {};
  }
}

/** No other attempt can help: where the service says so by a code of its own, not a proxy by its number. */
export function refusedFor<A extends Answered>(
  answered: A,
  isForGood: (answer: Answer) => boolean,
): A {
  const { verdict, answer } = answered;
  if (verdict.kind !== "later" || !isForGood(answer)) return answered;
  return { ...answered, verdict: { kind: "never", error: verdict.error } };
}

/** A success that doesn't say what a service says when it took a message: a proxy in its place took nothing. */
export function unlessTaken<A extends Answered>(
  answered: A,
  isTaken: (answer: Answer) => boolean,
): A {
  const { verdict, answer } = answered;
  if (verdict.kind !== "delivered" || isTaken(answer)) return answered;
  const error = httpError(verdict.status, "not accepted");
  return { ...answered, verdict: { kind: "later", error } };
}

/** Puts what the service says of a refusal behind its number. */
export function saying<A extends Answered>(answered: A, note: string): A {
  const { verdict } = answered;
  if (note === "" || !("error" in verdict) || !verdict.error.startsWith("http ")) return answered;
  return { ...answered, verdict: { ...verdict, error: `${verdict.error}: ${note}` } };
}

/** The wait that the answer's body asks for, in `unit` milliseconds, in place of the header's; anything but a number asks for none. */
export function askedWait<A extends Answered>(answered: A, asked: unknown, unit: number): A {
  const { verdict } = answered;
  if (verdict.kind !== "later" || typeof asked !== "number" || !Number.isFinite(asked))
    return answered;
  const retryAfterMs = clampRetryAfter(Math.ceil(asked * unit));
  return { ...answered, verdict: { ...verdict, retryAfterMs } };
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

/** An address without a slash at its end, and the path. */
export function under(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}

/** A path of a server, which may itself stand under a path of a proxy; a query in its address counts for nothing. */
export function onServer(server: string, path: string): string {
  const { origin, pathname } = new URL(server);
  return under(`${origin}${pathname}`, path);
}

/** One question to a service that changes nothing and shows whether a gateway's settings work. */
export async function lookAt(
  { egress, now }: Via,
  look: {
    url: string;
    headers?: Readonly<Record<string, string>>;
    /** Whether an answer that looks well says so, too. */
    isYes: (answer: Answer) => boolean;
  },
): Promise<Sent> {
  const { url, headers = {}, isYes } = look;
  const result = await egress.send({ method: "GET", url, headers, maxBytes: MOST_BYTES });
  const verdict = verdictOf(result, now);
  if (verdict.kind !== "delivered" || isYes(jsonIn(result.body))) return { verdict };
  return { verdict: { kind: "later", error: "the service says no" } };
}
