import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** One line that a client opened. */
export interface TalkPeer {
  path: string;
  /** Texts that came, in order. */
  heard: string[];
  readonly isOpen: boolean;
  /** Whether it answers pings and says a word of its own; true at first. */
  answersPings: boolean;
  say(text: string): void;
  /** One text in several frames. */
  sayInParts(...parts: string[]): void;
  /** How many of its pings were answered. */
  pongs: number;
  ping(): void;
  /** Ends it as it should be ended. */
  end(): void;
  /** Ends the connection without a word. */
  drop(): void;
}

/** A server of lines for messages both ways (RFC 6455), on loopback. */
export interface TalkServer {
  url: string;
  /** Each line so far, in order. */
  peers: TalkPeer[];
  /** What requests to open a line are answered with; 101 at first. */
  refuseWith(status: number | null): void;
  close(): Promise<void>;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [TEXT, CLOSE, PING, PONG] = [0x1, 0x8, 0x9, 0xa];

export async function startTalkServer(): Promise<TalkServer> {
  const peers: TalkPeer[] = [];
  const sockets = new Set<Socket>();
  let refused: number | null = null;
  const server = createServer((_request, response) => void response.writeHead(404).end());
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.on("upgrade", (request, socket: Socket) => {
    if (refused !== null) {
      socket.end(`HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    const key = String(request.headers["sec-websocket-key"]);
    const accept = createHash("sha1")
      .update(key + GUID)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    peers.push(peerOf(socket, request.url ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    peers,
    refuseWith(status) {
      refused = status;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function peerOf(socket: Socket, path: string): TalkPeer {
  let rest: Buffer = Buffer.alloc(0);
  const peer: TalkPeer = {
    path,
    heard: [],
    answersPings: true,
    get isOpen() {
      return !socket.destroyed && socket.writable;
    },
    say: (text) => void socket.write(frame(TEXT, Buffer.from(text))),
    sayInParts: (...parts) =>
      parts.forEach((part, i) => {
        const bytes = frame(i === 0 ? TEXT : 0, Buffer.from(part));
        if (i < parts.length - 1) bytes[0] = (bytes[0] ?? 0) & 0x7f;
        socket.write(bytes);
      }),
    pongs: 0,
    ping: () => void socket.write(frame(PING, Buffer.from("x"))),
    end: () => void socket.end(frame(CLOSE, Buffer.from([0x03, 0xe8]))),
    drop: () => void socket.destroy(),
  };
  socket.on("end", () => socket.end());
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let read = readFrame(rest); read !== null; read = readFrame(rest)) {
      rest = read.rest;
      if (read.opcode === TEXT) peer.heard.push(read.data.toString());
      else if (read.opcode === PONG && read.data.toString() === "x") peer.pongs++;
      else if (read.opcode === PING && peer.answersPings) socket.write(frame(PONG, read.data));
      else if (read.opcode === CLOSE) socket.end(frame(CLOSE, read.data));
    }
  });
  return peer;
}

function frame(opcode = 0, data: Buffer): Buffer {
  const head = [0x80 | opcode];
  if (data.length < 126) head.push(data.length);
  else if (data.length < 65_536) head.push(126, data.length >> 8, data.length & 255);
  else {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(data.length));
    head.push(127, ...length);
  }
  return Buffer.concat([Buffer.from(head), data]);
}

/** A client's frame is masked. null: not whole yet. */
function readFrame(bytes: Buffer): { opcode: number; data: Buffer; rest: Buffer } | null {
  const [first = 0, second = 0] = bytes;
  const short = second & 127;
  const at = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < at + 4) return null;
  const length =
    short === 126
      ? bytes.readUInt16BE(2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short;
  const end = at + 4 + length;
  if (bytes.length < end) return null;
  const mask = bytes.subarray(at, at + 4);
  const data = Buffer.from(bytes.subarray(at + 4, end).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  return { opcode: first & 15, data, rest: bytes.subarray(end) };
}
