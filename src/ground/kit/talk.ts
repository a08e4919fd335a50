import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { MessageEvent, Pool, WebSocket } from "undici";
import type { Clock } from "./clock.ts";
import { type EgressError, EgressFault, egressErrorOf } from "./egress-error.ts";

/** A line for messages both ways (RFC 6455). */
export interface TalkRequest {
  /** `wss:`, or `ws:` where the other side is on the same network. */
  url: string;
  /** The line is ended where nothing came for so long; each third of it the other side is asked whether it is there. */
  silentMs: number;
  /** Each text that comes. */
  heard(text: string): void;
  /** An open line has ended, whoever ended it: called once. */
  ended(why: EgressError): void;
}

/** An open line. */
export interface Talk {
  /** What can't be sent any more is dropped: the end is told by `ended`. */
  say(text: string): void;
  close(): void;
}

/** Limit for name, connection, TLS and the answer that opens the line. */
const OPEN_MS = 10_000;
/** No text of a service that talks to a box is longer. */
export const LONGEST_TALK = 1_048_576;

/** The one connection of a line: it is ended by hand, since nothing else ends one that was handed over. */
interface Wire {
  pool: Pool;
  /** Ends it at once; the first reason is the one that is told. */
  cut(why: EgressError): void;
  why(): EgressError | null;
}

function wireOf(newPool: (took: (socket: Socket) => void) => Pool): Wire {
  let reason: EgressError | null = null;
  let held: Socket | null = null;
  const pool = newPool((socket) => {
    held = socket;
    if (reason !== null) socket.destroy();
  });
  // The line's own error says nothing of why.
  pool.on("connectionError", (_origin, _targets, error) => {
    reason ??= egressErrorOf(error);
  });
  return {
    pool,
    cut(why) {
      reason ??= why;
      held?.destroy();
      void pool.destroy();
    },
    why: () => reason,
  };
}

/** Opens a line over a pool of its own, which ends with it. Rejects with an EgressFault. */
export async function openTalk(
  newPool: (took: (socket: Socket) => void) => Pool,
  request: TalkRequest,
  clock: Clock,
): Promise<Talk & { closed: Promise<void> }> {
  const { default: web } = await import("undici/lib/web/websocket/websocket.js");
  const wire = wireOf(newPool);
  const socket = new web.WebSocket(request.url, { dispatcher: wire.pool });
  const closed = Promise.withResolvers<void>();
  socket.addEventListener("message", ({ data }: MessageEvent) => {
    if (typeof data === "string") request.heard(data);
  });
  await opened(socket, wire, clock);
  const unwatch = watch(socket, {
    clock,
    silentMs: request.silentMs,
    ask: () => web.ping(socket),
    tooLong: () => wire.cut("timeout"),
  });
  socket.addEventListener("close", () => {
    unwatch();
    wire.cut("closed");
    closed.resolve();
    request.ended(wire.why() ?? "closed");
  });
  return {
    closed: closed.promise,
    say(text) {
      if (socket.readyState === socket.OPEN) socket.send(text);
    },
    close: () => wire.cut("stopped"),
  };
}

function opened(socket: WebSocket, wire: Wire, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(OPEN_MS, () => wire.cut("timeout_connect"));
    socket.addEventListener("open", () => {
      cancel();
      resolve();
    });
    socket.addEventListener("close", () => {
      cancel();
      wire.cut("bad_response");
      reject(new EgressFault(wire.why() ?? "bad_response"));
    });
  });
}

/** Frames that no listener of the socket is told of. */
const SIGNS = ["undici:websocket:ping", "undici:websocket:pong"];

/** Ends a line whose other side is gone without a word: behind a firewall that is how they go. Returns how to stop that. */
function watch(
  socket: WebSocket,
  way: { clock: Clock; silentMs: number; ask(): void; tooLong(): void },
): () => void {
  const { clock, silentMs, ask, tooLong } = way;
  let last = clock.mono();
  const sign = (message: unknown) => {
    if (Object(message).websocket === socket) last = clock.mono();
  };
  for (const name of SIGNS) diagnostics.subscribe(name, sign);
  socket.addEventListener("message", () => {
    last = clock.mono();
  });
  const look = (): (() => void) =>
    clock.after(silentMs / 3, () => {
      if (clock.mono() - last >= silentMs) return tooLong();
      ask();
      cancel = look();
    });
  let cancel = look();
  return () => {
    cancel();
    for (const name of SIGNS) diagnostics.unsubscribe(name, sign);
  };
}
