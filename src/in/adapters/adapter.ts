import type { SourceOptions } from "../../core/projects/source.ts";
import type { Ask } from "../../ground/kit/ask.ts";
import type { IngestEvent } from "../ingest/event.ts";

/** The keys that the project's rules use, kept first in an event of too many keys. Called only for such an event. */
export type WatchedKeys = () => ReadonlySet<string>;

/** A sender's request, with its whole body, decompressed. */
export interface InRequest {
  method: string;
  /** The path after `/v1/in/{kind}` and the token, if there is one: "" or "/api/v2/alerts". */
  path: string;
  query: URLSearchParams;
  /** The first value of a header; `name` in lower case. */
  header(name: string): string | undefined;
  body: Buffer;
  /** Arrival, Unix seconds. */
  at: number;
  /** The source's settings for reading its events. */
  options: SourceOptions;
  /** The keys that the project's rules use: they are kept when an event has too many keys. */
  watched: WatchedKeys;
  /** A random text, for an event that must differ from all others. */
  unique(): string;
}

/** The answer to a sender. */
export interface SenderReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** JSON, unless `headers` say otherwise; empty: no body. */
  body: string;
}

/** A part of a request that is no event, and the reason, for the person who looks for it. */
export interface Rejected {
  reason: string;
}

/** A job's report through its sender, for the project's heartbeat of that name. */
export interface JobReport {
  /** The job's name; null: the source's name. The heartbeat's slug is made from it. */
  name: string | null;
  word: "start" | "success" | "fail";
  /** The run that it reports on, a UUID. */
  rid: string | null;
  /** The job's schedule, if its sender states it: unchecked fields of a heartbeat, which is created from them. */
  pace: Readonly<Record<string, unknown>> | null;
  /** What to do where the project has no such heartbeat. */
  otherwise: { event: IngestEvent } | "nothing" | "rejected";
}

/** An alert that a sender asks for, by the name that the sender gave it or by the id made from that name. */
export interface AlertAsked {
  name: string;
  mayBeId: boolean;
}

/** The alert as the sender is shown it. */
export interface AlertNotified {
  id: string;
  /** The source that asks, as a UUID. */
  askedBy: string;
  dedupKey: string;
  message: string;
  details: string;
  state: "open" | "acknowledged" | "resolved";
  level: number;
  count: number;
  openedAt: number;
  lastSeen: number;
}

/** How many of a request's events were accepted. */
export interface TakenCounts {
  accepted: number;
  resolved: number;
  rejected: number;
}

/** A decoded request: its events in order, the parts that are none, and the answer after the commit. */
export interface Decoded {
  events: readonly IngestEvent[];
  rejected: readonly Rejected[];
  /** The ids of the events by position, of senders that repeat requests: an id that was seen is accepted once. */
  ids?: readonly (string | null)[];
  /** Reports of jobs. Each one that reaches a heartbeat counts as accepted. */
  jobs?: readonly JobReport[];
  /** The alert that the answer shows; if there is none, the answer is "not found". */
  asks?: AlertAsked;
  /** Throws UnreadableBody for a refusal in the form of all refusals; why is among `rejected` already. */
  answer(taken: TakenCounts, asked?: AlertNotified): SenderReply;
}

/** Why a whole request is refused. */
export type InRefusal =
  /** The body can't be read; `message` says why. */
  | { why: "bad_request"; message: string }
  | { why: "too_large" }
  /** No token, or an invalid one. */
  | { why: "unauthorized" }
  | { why: "not_found" }
  | { why: "method"; allowed: readonly string[] }
  /** Its Content-Type isn't one of `taken`. */
  | { why: "media_type"; taken: readonly string[] }
  /** Too much at once: the sender should repeat it after so many seconds. */
  | { why: "overloaded"; retryAfter: number }
  /** A server named in `message`, which must be asked first, doesn't answer: the sender should repeat it. */
  | { why: "unavailable"; message: string }
  | { why: "internal" };

/** Thrown by `decode` when no part of a request can be used. */
export class UnreadableBody extends Error {
  readonly refusal: InRefusal;

  /** A text is why the body can't be read. */
  constructor(why: InRefusal | string) {
    const refusal = typeof why === "string" ? ({ why: "bad_request", message: why } as const) : why;
    super(refusal.why);
    this.refusal = refusal;
  }
}

/** Most bytes of a body: as sent, and decompressed. */
export interface Caps {
  sent: number;
  inflated: number;
}

/** How a person connects a sender. */
export interface SetUp {
  /** Where in the sender the text is entered. */
  where: string;
  /** The text to enter. */
  paste: string;
  /** Facts to know, for example what is lost while the box is down. */
  notes: readonly string[];
}

/** The box's address in parts, for senders that want parts. Placeholders where the address isn't configured. */
export function placeOfBox(base: string): { scheme: string; host: string; hostname: string } {
  if (!URL.canParse(base)) return { scheme: "http", host: "HOST:PORT", hostname: "HOST" };
  const { protocol, host, hostname } = new URL(base);
  return { scheme: protocol.replace(":", ""), host, hostname };
}

/** The box's address as a whole, or a placeholder. */
export function baseOfBox(base: string): string {
  return URL.canParse(base) ? base : "http://HOST:PORT";
}

/** How alerts of one kind of sender are told apart. */
export interface SenderIdentity {
  /** Where an alert's title is from, for people, best first; empty: the first line of the message. */
  title: readonly string[];
  /** The labels that name what an alert is about; empty where each sender has labels of its own. */
  labels: readonly string[];
  /** Which of its senders name their alerts (`dedup_key`). */
  named: "all" | "some" | "none";
}

/** The format of one kind of sender. Each has a file of its own and a line in the list. */
export interface Adapter {
  /** Its name in addresses and on sources. */
  kind: string;
  /** Its name for people. */
  title: string;
  identity: SenderIdentity;
  /** The scope of its alerts' names, unless a source sets another. */
  room: "project" | "source";
  caps: Caps;
  /** The lowest level that the rule accepts which is made when the sender is connected; absent: 400. */
  usualLevel?: number;
  /** The sender loses what is refused, so under load it is refused last. */
  goesLast?: boolean;
  /** A person maps its fields: the latest bodies are kept to test the mapping. */
  isDescribed?: boolean;
  /** The headers of the answer to OPTIONS, without a token, for senders that ask first. */
  preflight?: Readonly<Record<string, string>>;
  /** The token from the body, for a sender that can't send it elsewhere; null for none, whatever the bytes. */
  tokenIn?(body: Buffer): string | null;
  /**
   * For senders with a fixed path: the equivalent path after `/v1/in/{kind}`, with the token if the fixed path contains
   * it. Null for every other path.
   */
  fixed?(path: string): string | null;
  /**
   * Runs before `decode`, for senders whose requests are verified at another server. Throws UnreadableBody for a
   * request that fails; nothing else, whatever the bytes.
   */
  believe?(request: InRequest, ask: Ask): Promise<void>;
  /** Whether the request is signed with the source's secret, for senders that can sign. */
  isSigned?(request: InRequest, secret: string): boolean;
  /** Throws UnreadableBody; nothing else, whatever the bytes. */
  decode(request: InRequest): Decoded;
  /** The refusal in the sender's format, which can depend on the request's headers; absent: as the API says it. */
  refuse?(refusal: InRefusal, header?: InRequest["header"]): SenderReply;
  setUp(at: { base: string; token: string; shortToken: string }): SetUp;
}

const MIB = 1024 * 1024;
/** For formats of alerts. */
export const alertCaps: Caps = { sent: 2 * MIB, inflated: 8 * MIB };
/** For formats of log lines, and how many lines one request may have. */
export const lineCaps: Caps = { sent: 8 * MIB, inflated: 32 * MIB };
export const MOST_LINES = 10_000;
