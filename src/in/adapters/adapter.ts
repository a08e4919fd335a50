import type { SourceOptions } from "../../core/projects/source.ts";
import type { Ask } from "../../ground/kit/ask.ts";
import type { IngestEvent } from "../ingest/event.ts";
import type { WatchedKeys } from "./watched.ts";

/** A request of a sender, its body whole and inflated. */
export interface InRequest {
  method: string;
  /** What stands behind `/v1/in/{kind}` and the token, if one is there: "" or "/api/v2/alerts". */
  path: string;
  query: URLSearchParams;
  /** The first value of a header; its name in lower case. */
  header(name: string): string | undefined;
  body: Buffer;
  /** When it came, Unix seconds. */
  at: number;
  /** How the source's lines are read, beside what their format says. */
  options: SourceOptions;
  /** What the project's rules look at, for an event of too many keys. */
  watched: WatchedKeys;
  /** Random, for what has to be told apart from all else. */
  unique(): string;
}

/** What a sender is answered. */
export interface SenderReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** JSON, unless `headers` say otherwise; empty: no body. */
  body: string;
}

/** A part of a request that is no event, and why, for whoever looks for it. */
export interface Rejected {
  reason: string;
}

/** What a job said of itself through its sender, for the project's heartbeat of that name. */
export interface JobReport {
  /** As its sender calls it; null: as its source is called. A heartbeat's slug is made from it. */
  name: string | null;
  word: "start" | "success" | "fail";
  /** Which run it speaks of, a UUID. */
  rid: string | null;
  /** When it is expected, where its sender says so: a heartbeat's fields, not yet looked at. One is made by them. */
  pace: Readonly<Record<string, unknown>> | null;
  /** What becomes of it where the project has no such heartbeat. */
  otherwise: { event: IngestEvent } | "nothing" | "rejected";
}

/** An alert that a sender asks for: by the name that it gave it, or the id that was made of that. */
export interface AlertAsked {
  name: string;
  mayBeId: boolean;
}

/** What of it a sender is told. */
export interface AlertTold {
  id: string;
  dedupKey: string;
  message: string;
  details: string;
  state: "open" | "acknowledged" | "resolved";
  level: number;
  count: number;
  /** Unix seconds. */
  openedAt: number;
  lastSeen: number;
}

/** How many of a request's events were taken. */
export interface TakenCounts {
  accepted: number;
  resolved: number;
  rejected: number;
}

/** What a request comes to: its events in order, what was left out, and the answer once all is committed. */
export interface Decoded {
  events: readonly IngestEvent[];
  rejected: readonly Rejected[];
  /** An event's own id by its place, of senders that send again what they have sent: the same one is taken once. */
  ids?: readonly (string | null)[];
  /** What jobs said; each that is heard counts as accepted. */
  jobs?: readonly JobReport[];
  /** An alert that the answer needs; there is none: not found. */
  asks?: AlertAsked;
  answer(taken: TakenCounts, asked?: AlertTold): SenderReply;
}

/** Why a request isn't taken at all. */
export type InRefusal =
  /** Its body can't be read; the sentence says why. */
  | { why: "bad_request"; message: string }
  | { why: "too_large" }
  /** No token, or one that opens nothing here. */
  | { why: "unauthorized" }
  | { why: "not_found" }
  | { why: "method"; allowed: readonly string[] }
  /** Its Content-Type is none of those that are taken. */
  | { why: "media_type"; taken: readonly string[] }
  /** Too much at once: the sender is to try again after so many seconds. */
  | { why: "overloaded"; retryAfter: number }
  /** Somebody who has to be asked first doesn't answer: the sender is to try again; the sentence says who. */
  | { why: "unavailable"; message: string }
  | { why: "internal" };

/** Thrown by `decode` for a request of which nothing can be taken. */
export class UnreadableBody extends Error {
  readonly refusal: InRefusal;

  constructor(refusal: InRefusal) {
    super(refusal.why);
    this.refusal = refusal;
  }
}

/** Bytes of a body as it comes, and once it is inflated. */
export interface Caps {
  sent: number;
  inflated: number;
}

/** What a person does to connect a sender. */
export interface SetUp {
  /** Where in the sender the text goes. */
  where: string;
  /** What to paste there. */
  paste: string;
  /** What to know: what is lost while the box is down, and the like. */
  notes: readonly string[];
}

/** Where senders reach the box, for those that take an address in pieces; words in their place where it wasn't told. */
export function placeOfBox(base: string): { scheme: string; host: string; hostname: string } {
  if (!URL.canParse(base)) return { scheme: "http", host: "HOST:PORT", hostname: "HOST" };
  const { protocol, host, hostname } = new URL(base);
  return { scheme: protocol.replace(":", ""), host, hostname };
}

/** The same in one piece. */
export function baseOfBox(base: string): string {
  return URL.canParse(base) ? base : "http://HOST:PORT";
}

/** The format of one kind of sender: a file of its own and a line in the list. */
export interface Adapter {
  /** Its name in addresses and on sources. */
  kind: string;
  /** As a person knows it. */
  title: string;
  /** Where the names of its alerts hold, unless a source says otherwise. */
  room: "project" | "source";
  caps: Caps;
  /** The lowest level that the rule takes which is made when it is connected; 400 where this says nothing. */
  usualLevel?: number;
  /** What it sends is lost where it is refused: it is refused when everybody else was. */
  goesLast?: boolean;
  /** A person says how its bodies are read: the latest are kept to try that on. */
  isDescribed?: boolean;
  /** Headers of the answer to OPTIONS, which needs no token: for senders that ask first. */
  preflight?: Readonly<Record<string, string>>;
  /** The token, of a sender that can put it only into the body; null where it isn't there, whatever the bytes. */
  tokenIn?(body: Buffer): string | null;
  /**
   * For senders that insist on an address of their own: what would stand behind `/v1/in/{kind}` in its place, the
   * token included where that address holds it; null for every other path.
   */
  fixed?(path: string): string | null;
  /**
   * Before `decode`, of senders whose word has to be checked elsewhere: asks there. Throws UnreadableBody for what isn't
   * believed; nothing else, whatever the bytes.
   */
  believe?(request: InRequest, ask: Ask): Promise<void>;
  /** Whether the request is signed with the source's secret, of senders that can do that. */
  isSigned?(request: InRequest, secret: string): boolean;
  /** Throws UnreadableBody; nothing else, whatever the bytes. */
  decode(request: InRequest): Decoded;
  /** A refusal in the sender's own form; `header` gives the request's, where the form depends on it. */
  refuse(refusal: InRefusal, header?: InRequest["header"]): SenderReply;
  setUp(at: { base: string; token: string; shortToken: string }): SetUp;
}

const MIB = 1024 * 1024;
/** Of what sends alerts. */
export const alertCaps: Caps = { sent: 2 * MIB, inflated: 8 * MIB };
/** Of what sends lines, and how many of those one request may hold. */
export const lineCaps: Caps = { sent: 8 * MIB, inflated: 32 * MIB };
export const MOST_LINES = 10_000;
