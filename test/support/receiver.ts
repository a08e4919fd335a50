import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";

/** A request as it arrived. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The body as it arrived. */
  bytes?: Buffer;
}

/** What a receiver does with one request that has arrived whole. */
export type Behaviour = (response: ServerResponse, socket: Socket, request: Received) => void;

/** A programmable HTTP server on loopback. */
export interface Receiver {
  /** `http://127.0.0.1:port`, no slash at the end; https with TLS. */
  readonly url: string;
  readonly port: number;
  /** Every request so far. */
  readonly received: readonly Received[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  /** From now on, when nothing is left of `once`. At first: 204. */
  always(behaviour: Behaviour): void;
  /** The next requests, one each, in this order. */
  once(...behaviours: Behaviour[]): void;
  /** The next request that `next` hasn't given yet, as soon as there is one. */
  next(): Promise<Received>;
  /** When no connection is open any more. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

/** Certificates under test/fixtures/tls. `authority` signed all but `self-signed`; all but it hold a key. */
export type CertificateName = "good" | "expired" | "wrong-name" | "self-signed";

export function pem(name: CertificateName | "authority"): string {
  return readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), "utf8");
}

/** Starts a receiver, on a free port unless told one; with `tls`, on HTTPS under that certificate. */
export async function startReceiver(
  options: { tls?: CertificateName; port?: number } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const planned: Behaviour[] = [];
  const waiting: ((request: Received) => void)[] = [];
  let standing: Behaviour = answer(204);
  let given = 0;

  const server = newServer(options.tls);
  const sockets = trackSockets(server);
  server.on("request", async (message: IncomingMessage, response: ServerResponse) => {
    const request = await readRequest(message).catch(() => null);
    if (request === null) return;
    received.push(request);
    if (waiting.length > 0) given++;
    waiting.shift()?.(request);
    (planned.shift() ?? standing)(response, message.socket, request);
  });
  const port = await listen(server, options.port);

  return {
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    received,
    get connections() {
      return sockets.accepted();
    },
    get open() {
      return sockets.open.size;
    },
    always(behaviour) {
      standing = behaviour;
    },
    once(...behaviours) {
      planned.push(...behaviours);
    },
    next() {
      const ready = received[given];
      if (ready === undefined) return new Promise((resolve) => waiting.push(resolve));
      given++;
      return Promise.resolve(ready);
    },
    async drained() {
      for (const socket of sockets.open) {
        await new Promise((resolve) => socket.once("close", resolve));
      }
    },
    close: () => shut(server, sockets.open),
  };
}

/** A server below HTTP: `onSocket` does what it likes with each connection. */
export async function startSocketServer(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createSocketServer(onSocket);
  const sockets = trackSockets(server);
  const port = await listen(server);
  return { port, close: () => shut(server, sockets.open) };
}

/** Answers whole. A string is sent as it is, anything else as JSON. */
export function answer(
  status: number,
  body: unknown = "",
  headers: Record<string, string> = {},
): Behaviour {
  return (response) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** 503 with a `Retry-After` of any form. */
export function unavailable(retryAfter: string): Behaviour {
  return answer(503, "", { "retry-after": retryAfter });
}

export function redirect(location: string): Behaviour {
  return answer(302, "", { location });
}

/** Takes the request and never says a word. */
export const hang: Behaviour = () => {};

/** Sends the headers and the first byte of a longer body, and no more. */
export function hangInBody(status = 200): Behaviour {
  return (response) => {
    response.writeHead(status, { "content-length": "100" }).write("x");
  };
}

/** A body of one byte every `everyMs`, without end. */
export function drip(everyMs = 1_000, status = 200): Behaviour {
  return (response) => {
    response.writeHead(status).flushHeaders();
    const timer = setInterval(() => response.write("x"), everyMs);
    response.on("close", () => clearInterval(timer));
  };
}

/** A body of `bytes` bytes as fast as it is taken, 1 GiB unless told. */
export function flood(bytes = 2 ** 30, status = 200): Behaviour {
  const piece = Buffer.alloc(65_536, "x");
  return (response) => {
    response.writeHead(status, { "content-length": String(bytes) });
    let left = bytes;
    const push = () => {
      while (left > 0 && !response.destroyed) {
        const now = piece.subarray(0, Math.min(left, piece.length));
        left -= now.length;
        if (!response.write(now)) return void response.once("drain", push);
      }
      response.end();
    };
    push();
  };
}

/** Resets the connection instead of answering. */
export const reset: Behaviour = (_response, socket) => {
  socket.resetAndDestroy();
};

/** Sends the headers and the start of a longer body, then resets. */
export function resetInBody(status = 200): Behaviour {
  return (response, socket) => {
    response.writeHead(status, { "content-length": "100" });
    response.write("x", () => socket.resetAndDestroy());
  };
}

/** Closes the connection politely instead of answering. */
export const hangUp: Behaviour = (_response, socket) => {
  socket.end();
};

/** Writes these bytes on the connection as the whole answer, then closes it. */
export function raw(bytes: string): Behaviour {
  return (_response, socket) => {
    socket.end(bytes);
  };
}

function newServer(tls: CertificateName | undefined): Server {
  // Requests may come with anything a sender would put into them.
  const lax = { requireHostHeader: false, keepAliveTimeout: 5_000 };
  if (tls === undefined) return createServer(lax);
  return createTlsServer({ ...lax, key: pem(tls), cert: pem(tls) });
}

async function readRequest(message: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: bytes.toString(),
    bytes,
  };
}

interface Connections {
  on(event: "connection", listener: (socket: Socket) => void): unknown;
}

function trackSockets(server: Connections): { open: Set<Socket>; accepted(): number } {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on("connection", (socket: Socket) => {
    accepted++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => {});
  });
  return { open, accepted: () => accepted };
}

interface Listening {
  listen(port: number, host: string, done: () => void): unknown;
  address(): AddressInfo | string | null;
  close(done: () => void): unknown;
}

async function listen(server: Listening, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function shut(server: Listening, open: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(resolve));
  for (const socket of open) socket.destroy();
  await closed;
}
