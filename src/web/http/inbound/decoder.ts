import { threadSource } from "../../../ground/kit/assets.ts";
import type { Clock } from "../../../ground/kit/clock.ts";
import { createInTurn } from "../../../ground/kit/in-turn.ts";
import { createWorkThread } from "../../../ground/kit/thread.ts";
import { turns } from "../../../ground/kit/turns.ts";
import {
  type Adapter,
  type AlertAsked,
  type AlertNotified,
  type Decoded,
  type InRequest,
  type SenderReply,
  type TakenCounts,
  UnreadableBody,
} from "../../../in/adapters/adapter.ts";
import { decodeRequest } from "../../../in/adapters/decode.ts";
import type { DecodeOrder, DecodeReply, EventsPart } from "../../../in/adapters/decode-worker.ts";

/** A request, and what of it a thread is told in place of the request's own way to look for it. */
export interface Readable {
  request: InRequest;
  headers: Readonly<Record<string, string>>;
}

/** What a request comes to. */
export interface Decoding extends Required<Pick<Decoded, "jobs" | "rejected">> {
  /** How many there are. */
  events: number;
  /** Its events in their order, some at a time. Throws UnreadableBody. */
  parts(): AsyncIterable<EventsPart> | Iterable<EventsPart>;
  /** An alert that the answer needs: of short requests alone, which those that ask are. */
  asks?: AlertAsked | undefined;
  answer(taken: TakenCounts, asked?: AlertNotified): Promise<SenderReply> | SenderReply;
  /** Nothing more is asked of it. */
  close(): void;
}

/** Reads what senders send: a short body at once, a long one in a thread, so that no body holds up a page. */
export type Decoder = ReturnType<typeof createDecoder>;

/** Bytes that cost the loop less than a thread does. */
const SHORT = 32 * 1024;
/** A thread that has read more ends: what lies about in it would be there beside the next body. */
const LONG = 4 * 1024 * 1024;
/** The heap is for what the bounds of each format let through; parsers of Node's own don't heed it. */
const LIMITS = { deadlineMs: 20_000, heapMb: 192, longestQueue: 1 };
/**
 * How long somebody waits while another's body is read: that one is then told to try again. Its next turn is twice as long,
 * up to the most, so that a body which needs no more than that is read for certain, however many others wait.
 */
const PATIENCE_MS = { first: 2_000, most: 8_000 };

export function createDecoder(clock: Clock) {
  const thread = createWorkThread({
    source: threadSource("src/in/adapters/decode-worker.ts"),
    clock,
    ...LIMITS,
  });
  const inTurn = createInTurn();
  /** Of those whose last body was cut off: how long the next may take. */
  const patience = new Map<string, number>();
  const waiting: string[] = [];
  let reading: { owner: string; stop: (() => void) | null; isCutOff: boolean } | null = null;

  /** Whose body is read has so much longer, once anybody else waits. */
  const hurry = () => {
    const now = reading;
    if (now === null || now.stop !== null || waiting.every((one) => one === now.owner)) return;
    const given = patience.get(now.owner) ?? PATIENCE_MS.first;
    now.stop = clock.after(given, () => {
      now.isCutOff = true;
      patience.set(now.owner, Math.min(2 * given, PATIENCE_MS.most));
      void thread.restart();
    });
  };

  const ask = async (order: DecodeOrder, moved: ArrayBuffer[] = []): Promise<DecodeReply> => {
    const heard = await thread.ask(order, moved);
    if ("said" in heard) {
      const reply = heard.said as DecodeReply;
      if ("refused" in reply) throw new UnreadableBody(reply.refused);
      if ("failed" in reply) throw new Error(reply.failed);
      return reply;
    }
    // It needs more than any honest body does.
    if (heard.ended === "heap" || heard.ended === "late")
      throw new UnreadableBody({ why: "too_large" });
    const message = "Long bodies can't be read at the moment: try again shortly.";
    throw new UnreadableBody({ why: "unavailable", message });
  };

  async function* parts() {
    for (;;) {
      const reply = await ask("more");
      if (!("part" in reply) || reply.part.events.length === 0) return;
      yield reply.part;
    }
  }

  const read = async (kind: string, readable: Readable, owner: string) => {
    const { bytes, moved } = movable(readable.request.body);
    const mine = { owner, stop: null as (() => void) | null, isCutOff: false };
    reading = mine;
    hurry();
    try {
      return await ask({ request: { ...toldOf(readable, kind), body: bytes } }, moved);
    } finally {
      mine.stop?.();
      if (!mine.isCutOff) patience.delete(owner);
      reading = null;
    }
  };

  const inThread = async (
    kind: string,
    readable: Readable,
    { owner, close }: { owner: string; close(): void },
  ) => {
    const reply = await read(kind, readable, owner);
    if (!("found" in reply)) throw new Error("the thread said something else");
    const { events, jobs = [], rejected } = reply.found;
    return {
      events,
      jobs,
      rejected,
      parts,
      close,
      async answer(taken: TakenCounts) {
        const said = await ask({ taken });
        if (!("reply" in said)) throw new Error("the thread said something else");
        return said.reply;
      },
    };
  };

  return {
    /** `owner` is whose it is: who sends many long ones waits behind their own. Throws UnreadableBody. */
    async decode(adapter: Adapter, readable: Readable, owner: string): Promise<Decoding> {
      if (readable.request.body.length <= SHORT)
        return turns.during(`sender ${adapter.kind}`, () => atOnce(adapter, readable.request));
      const isLong = readable.request.body.length > LONG;
      waiting.push(owner);
      hurry();
      const endTurn = await inTurn(owner);
      waiting.splice(waiting.indexOf(owner), 1);
      const close = isLong ? () => void thread.restart().then(endTurn) : endTurn;
      try {
        return await inThread(adapter.kind, readable, { owner, close });
      } catch (error) {
        close();
        throw error;
      }
    },
    close: () => thread.close(),
  };
}

function atOnce(adapter: Adapter, request: InRequest): Decoding {
  const { events, ids = null, jobs = [], rejected, asks, answer } = decodeRequest(adapter, request);
  return {
    events: events.length,
    jobs,
    rejected,
    asks,
    answer,
    parts: () => [{ events: [...events], ids }],
    close() {},
  };
}

function toldOf({ request, headers }: Readable, kind: string) {
  const { method, path, at, options, query, watched } = request;
  return {
    kind,
    method,
    path,
    at,
    options,
    headers,
    query: `${query}`,
    watched: [...watched()],
  };
}

/** The bytes as they go over to a thread, moved where nothing else lies beside them. */
function movable(body: Buffer): { bytes: Uint8Array; moved: ArrayBuffer[] } {
  const isAlone = body.byteLength === body.buffer.byteLength;
  const bytes = isAlone ? new Uint8Array(body.buffer) : new Uint8Array(body);
  return { bytes, moved: [bytes.buffer as ArrayBuffer] };
}
