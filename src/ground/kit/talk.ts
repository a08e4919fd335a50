import { createHash, randomBytes } from "node:crypto";
import http, { type Agent, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { Clock } from "./clock.ts";
import { type EgressError, EgressFault, egressErrorOf } from "./egress-error.ts";
import { clientFrame, frameReader, opcodes, type SocketFrame } from "./frames.ts";

/** A WebSocket (RFC 6455). */
export interface TalkRequest {
  /** `wss:`, or `ws:` where the other side is on the same network. */
  url: string;
  /** The connection ends after so many milliseconds in which nothing arrives. After each third of them a ping is sent. */
  silentMs: number;
  /** Called with each text that arrives. */
  heard(text: string): void;
  /** Called once when an open connection has ended, by either side. */
  ended(why: EgressError): void;
}

export interface Talk {
  /**
   * Sends a text. After the end it does nothing; `ended` reports the end. `atOnce`: although what it is about may not be
   * durable yet.
   */
  say(text: string, how?: { atOnce: boolean }): void;
  close(): void;
}

/** Limit for lookup, connection, TLS and the answer to the upgrade. */
const OPEN_MS = 10_000;
/** The longest text that any service sends. */
const LONGEST_TALK = 1_048_576;
/** The standard's suffix for the server's answer to the key. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Opens a WebSocket by an agent of its own. `url`: as for http. Rejects with an EgressFault. */
export async function openTalk(
  url: URL,
  request: TalkRequest,
  { agent, clock }: { agent: Agent; clock: Clock },
): Promise<Talk & { closed: Promise<void> }> {
  const { socket, head } = await upgraded(url, agent, clock);
  const closed = Promise.withResolvers<void>();
  let reason: EgressError | null = null;
  let last = clock.mono();
  const cut = (why: EgressError) => {
    reason ??= why;
    socket.destroy();
  };
  const say = (opcode: number, data: Buffer) => {
    if (socket.writable) socket.write(clientFrame(opcode, data));
  };
  const read = frameReader(LONGEST_TALK);
  const wrong = () => cut("bad_response");
  const take = listening(request.heard, { say, wrong, end: () => socket.end() });
  const arrived = (chunk: Buffer) => {
    last = clock.mono();
    const frames = read(chunk);
    if (frames === null) wrong();
    else for (const frame of frames) take(frame);
  };
  const look = (): (() => void) =>
    clock.after(request.silentMs / 3, () => {
      if (clock.mono() - last >= request.silentMs) return cut("timeout");
      say(opcodes.ping, Buffer.alloc(0));
      cancel = look();
    });
  let cancel = look();
  socket.on("error", (error) => cut(egressErrorOf(error)));
  // Reading begins once the caller has the connection.
  socket.unshift(head);
  socket.on("data", arrived);
  socket.on("close", () => {
    cancel();
    closed.resolve();
    request.ended(reason ?? "closed");
  });
  return {
    closed: closed.promise,
    say: (text) => say(opcodes.text, Buffer.from(text)),
    close: () => cut("stopped"),
  };
}

/** The connection after the other side has accepted the upgrade, and the bytes that arrived with it. */
function upgraded(url: URL, agent: Agent, clock: Clock): Promise<{ socket: Socket; head: Buffer }> {
  const key = randomBytes(16).toString("base64");
  const request = (url.protocol === "https:" ? https : http).request(url, {
    agent,
    headers: {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Key": key,
      "Sec-WebSocket-Version": "13",
    },
  });
  return new Promise((resolve, reject) => {
    const fail = (error: EgressError) => {
      cancel();
      reject(new EgressFault(error));
      request.destroy();
    };
    const cancel = clock.after(OPEN_MS, () => fail("timeout_connect"));
    request.on("error", (error) => fail(egressErrorOf(error)));
    request.on("response", () => fail("bad_response"));
    request.on("upgrade", (answer: IncomingMessage, socket: Socket, head: Buffer) => {
      const expected = createHash("sha1").update(`${key}${GUID}`).digest("base64");
      if (answer.headers["sec-websocket-accept"] !== expected) {
        socket.destroy();
        return fail("bad_response");
      }
      cancel();
      resolve({ socket, head });
    });
    request.end();
  });
}

/** Joins the frames of texts, and answers pings and closes. `wrong`: called for a text that is too long. */
function listening(
  heard: (text: string) => void,
  line: { say(opcode: number, data: Buffer): void; end(): void; wrong(): void },
): (frame: SocketFrame) => void {
  let parts: Buffer[] = [];
  return ({ opcode, isLast, data }) => {
    if (opcode === opcodes.ping) return line.say(opcodes.pong, data);
    if (opcode === opcodes.close) {
      line.say(opcodes.close, data);
      return line.end();
    }
    if (opcode !== opcodes.text && opcode !== opcodes.continuation) return;
    parts.push(data);
    const text = Buffer.concat(parts);
    if (text.length > LONGEST_TALK) return line.wrong();
    if (!isLast) return;
    parts = [];
    heard(text.toString());
  };
}
