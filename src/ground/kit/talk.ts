import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { MessageEvent, Pool, WebSocket } from "undici";
import type { Clock } from "./clock.ts";
import { type EgressError, EgressFault, egressErrorOf } from "./egress-error.ts";

/** A WebSocket (RFC 6455). */
export interface TalkRequest {
  /** `wss:`, or `ws:` where the other side is on the same network. */
  url: string;
  /** The connection ends after so many milliseconds without a message. After each third of them a ping is sent. */
  silentMs: number;
  /** Called with each text that arrives. */
  heard(text: string): void;
  /** Called once when an open connection has ended, by either side. */
  ended(why: EgressError): void;
}

export interface Talk {
  /** Sends a text. After the end it does nothing; `ended` reports the end. */
  say(text: string): void;
  close(): void;
}

/** Limit for lookup, connection, TLS and the answer to the upgrade. */
const OPEN_MS = 10_000;
/** The longest text that any service sends. */
export const LONGEST_TALK = 1_048_576;

/** The one connection of a WebSocket. It must be closed by hand: undici doesn't close a connection after an upgrade. */
interface Wire {
  pool: Pool;
  /** Closes it at once. The first reason is the one that `ended` gets. */
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
  // The WebSocket's own error doesn't say why.
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

/** Opens a WebSocket over a pool of its own, which ends with it. Rejects with an EgressFault. */
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

/** Frames that the socket's listeners don't get. */
const SIGNS = ["undici:websocket:ping", "undici:websocket:pong"];

/** Ends a connection whose other side went away without a close. Returns a function that stops the watch. */
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
