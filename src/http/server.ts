import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import type { App } from "./app.ts";
import { tooLarge } from "./check.ts";
import type { IngestDoor, IngestReply } from "./ingest.ts";

export interface ServerOptions {
  app: App;
  ingest: IngestDoor;
  tls?: { cert: string; key: string };
  /** The client's address of a connection with this X-Forwarded-For. */
  address(peer: string, forwarded: string | undefined): string;
}

/**
 * Node's HTTP server with two doors: `POST /v1/ingest` is answered right here, because a web Request for
 * each event costs more than the event; everything else goes through the app.
 */
export function createServer(options: ServerOptions): Server {
  const toApp = getRequestListener(options.app.fetch, { overrideGlobalObjects: false });
  const listener: RequestListener = (incoming, outgoing) => {
    if (incoming.method === "POST" && incoming.url === "/v1/ingest")
      serveIngest(options, incoming, outgoing);
    else void toApp(incoming, outgoing);
  };
  const server = options.tls
    ? createTlsServer({ ...options.tls, minVersion: "TLSv1.2" })
    : createHttpServer();
  server.on("request", listener);
  // A body that will be refused must not be asked for first: 413 instead of 100 Continue.
  server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!(Number(incoming.headers["content-length"] ?? 0) > 8 * 1024 * 1024))
      outgoing.writeContinue();
    listener(incoming, outgoing);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.keepAliveTimeout = 65_000;
  server.maxHeadersCount = 100;
  server.maxConnections = 4096;
  return server;
}

function serveIngest(
  { ingest, address }: ServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const { headers } = incoming;
  const reply = (answer: IngestReply) => {
    if (outgoing.destroyed) return;
    // With its length known, head and body go out in one write.
    answer.headers["content-length"] = String(Buffer.byteLength(answer.body));
    outgoing.writeHead(answer.status, answer.headers);
    outgoing.end(answer.body);
  };
  const admit = () =>
    ingest.admit({
      authorization: headers.authorization,
      contentType: headers["content-type"],
      contentEncoding: headers["content-encoding"],
      address: address(incoming.socket.remoteAddress ?? "", forwardedFor(headers)),
    });
  const read = (admitted: Awaited<ReturnType<IngestDoor["admit"]>>) =>
    readBody(incoming, admitted.bodyLimit, (error, body) =>
      body === null ? reply(ingest.refuse(error)) : ingest.take(admitted, body, reply),
    );
  try {
    const admitted = admit();
    if (admitted instanceof Promise)
      admitted.then(read, (error: unknown) => reply(ingest.refuse(error)));
    else read(admitted);
  } catch (error) {
    reply(ingest.refuse(error));
  }
}

export function forwardedFor(headers: IncomingMessage["headers"]): string | undefined {
  const value = headers["x-forwarded-for"];
  return Array.isArray(value) ? value.join(",") : value;
}

/** Collects the body as text, counting bytes as they come; nothing is kept past `limit`. */
function readBody(
  incoming: IncomingMessage,
  limit: number,
  done: (error: unknown, body: string | null) => void,
): void {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) {
    done(tooLarge(limit), null);
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) {
      incoming.removeAllListeners("data");
      incoming.removeAllListeners("end");
      incoming.resume();
      done(tooLarge(limit), null);
      return;
    }
    if (first === null) first = chunk;
    else if (rest === null) rest = [first, chunk];
    else rest.push(chunk);
  });
  incoming.on("end", () => {
    const whole = rest === null ? first : Buffer.concat(rest);
    done(null, whole === null ? "" : whole.toString("utf8"));
  });
}
