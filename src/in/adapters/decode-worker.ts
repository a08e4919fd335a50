/**
 * The thread that decodes long bodies. It reports once when its code is loaded. Then it answers each order: a request
 * with its result without events, `more` with the next events, and the accepted counts with the sender's answer.
 */
import { parentPort } from "node:worker_threads";
import { uuid4 } from "../../ground/kit/ids.ts";
import { systemRandom } from "../../ground/kit/random.ts";
import { eventChars, type IngestEvent } from "../ingest/event.ts";
import {
  type Decoded,
  type InRefusal,
  type InRequest,
  type SenderReply,
  type TakenCounts,
  UnreadableBody,
} from "./adapter.ts";
import { decodeRequest } from "./decode.ts";
import { findAdapter } from "./list.ts";

/** A request in a form that can be sent to a thread. */
interface ToldRequest extends Pick<InRequest, "method" | "path" | "at" | "options"> {
  kind: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  watched: readonly string[];
}

export type DecodeOrder = { request: ToldRequest } | "more" | { taken: TakenCounts };

/** Some of a request's events, in order; empty at the end. */
export interface EventsPart {
  events: IngestEvent[];
  ids: readonly (string | null)[] | null;
}

export type DecodeReply =
  | { found: Pick<Decoded, "jobs" | "rejected"> & { events: number } }
  | { part: EventsPart }
  | { reply: SenderReply }
  | { refused: InRefusal }
  | { failed: string };

/** Most events of one part, so that reading it takes one turn of the event loop. */
const PART_EVENTS = 500;
const PART_CHARS = 1024 * 1024;

let current: Decoded | null = null;
let at = 0;

function requestOf(told: ToldRequest): InRequest {
  const { method, path, at, options, headers, body, query, watched } = told;
  const names = new Set(watched);
  return {
    method,
    path,
    at,
    options,
    query: new URLSearchParams(query),
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    watched: () => names,
    unique: () => uuid4(systemRandom),
  };
}

function nextPart({ events, ids }: Decoded): EventsPart {
  const from = at;
  let chars = 0;
  while (at < events.length && at - from < PART_EVENTS && chars < PART_CHARS)
    chars += eventChars(events[at++] as IngestEvent);
  return { events: events.slice(from, at), ids: ids?.slice(from, at) ?? null };
}

function answerTo(order: DecodeOrder): DecodeReply {
  try {
    if (typeof order === "object" && "request" in order) {
      current = null;
      at = 0;
      const adapter = findAdapter(order.request.kind);
      if (adapter === null) return { failed: "no such kind" };
      current = decodeRequest(adapter, requestOf(order.request));
      const { events, jobs = [], rejected } = current;
      return { found: { events: events.length, jobs, rejected } };
    }
    if (current === null) return { failed: "no request" };
    if (order === "more") return { part: nextPart(current) };
    const { answer } = current;
    current = null;
    return { reply: answer(order.taken) };
  } catch (error) {
    current = null;
    if (error instanceof UnreadableBody) return { refused: error.refusal };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  port.on("message", (order: DecodeOrder) => port.postMessage(answerTo(order)));
  port.postMessage("ready");
}
