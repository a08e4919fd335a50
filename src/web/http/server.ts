import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { ClientAddress } from "./address.ts";
import type { AppHandler } from "./app-door.ts";
import { createBodyReader, type ReadBody } from "./body-reader.ts";
import type { Connections } from "./connections.ts";
import type { IngestHandler, IngestReply } from "./ingest.ts";
import { createIngestLane, type IngestLane } from "./ingest-lane.ts";
import type { SendOn } from "./send-on.ts";
import { constructionLimits, type ServerLimits, serverLimits } from "./server-limits.ts";
import { endConnection, headFault, readRest, wireError } from "./wire.ts";

export interface ServerOptions {
  app: AppHandler;
  ingest: IngestHandler;
  tls?: { cert: string; key: string };
  address: ClientAddress;
  connections: Connections;
  clock: Clock;
  limits?: Partial<ServerLimits>;
  /** Sends what is for another node's tenant on. */
  sendOn?: SendOn | undefined;
  /** What reads the connections first, in place of the ingest lane. */
  lane?: ((handOver: (socket: Socket) => void) => IngestLane) | undefined;
}

/** A server, and its connections that are Node's and those that are still in the ingest lane. */
export type HttpServer = ReturnType<typeof createServer>;

/** More than any route takes. */
const NEVER_TAKEN = 20 * 1024 * 1024;

/**
 * Node's HTTP server with two doors: `POST /v1/ingest` is answered right here, because a web Request for
 * each event costs more than the event; everything else goes through the app. Before it lies the ingest lane.
 */
export function createServer(options: ServerOptions) {
  const { app, ingest, address, connections, clock, sendOn } = options;
  const limits = { ...serverLimits, ...options.limits };
  const readBody = createBodyReader(limits.bodyBytes);
  const server = options.tls
    ? createTlsServer({ ...constructionLimits(limits), ...options.tls, minVersion: "TLSv1.2" })
    : createHttpServer(constructionLimits(limits));
  server.timeout = limits.silence;
  server.maxHeadersCount = 100;
  server.on("connection", connections.enter);

  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, isAsked: boolean) => {
    const fault = headFault(incoming);
    if (fault !== null) {
      const refusal = ingest.refuse(fault);
      send(outgoing, { ...refusal, headers: { ...refusal.headers, connection: "close" } });
    } else if (incoming.method === "POST" && incoming.url === "/v1/ingest")
      serveIngest(
        { ingest, address, readBody, connections, clock, isAsked, sendOn },
        incoming,
        outgoing,
      );
    else {
      if (isAsked) askFor(incoming, outgoing, NEVER_TAKEN);
      app.serve(incoming, outgoing);
    }
  };
  const plain = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    serve(incoming, outgoing, false);
  server.on("request", plain);
  server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) =>
    serve(incoming, outgoing, true),
  );
  // An expectation that isn't known may be passed over (RFC 9110 §10.1.1).
  server.on("checkExpectation", plain);
  server.on("connect", (_incoming: IncomingMessage, socket: Socket) => {
    const error = new ServiceError("method_not_allowed", "This is no proxy.");
    endConnection(socket, () => ingest.refuse(error));
  });
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) =>
    endConnection(socket, () => ingest.refuse(wireError(error))),
  );
  const lane = layLane(
    server,
    options.tls ? "secureConnection" : "connection",
    options.lane ??
      ((handOver) => createIngestLane({ ingest, address, limits, connections, clock, handOver })),
  );
  const taken = new Set<Socket>();
  let onEmpty = () => {};
  return {
    server,
    /** Serves a connection that was accepted elsewhere, as one of its own. It is paused. */
    take(socket: Socket) {
      taken.add(socket);
      socket.once("close", () => {
        taken.delete(socket);
        if (taken.size === 0) onEmpty();
      });
      connections.enter(socket);
      if (socket.destroyed) return;
      lane.accept(socket);
      socket.resume();
    },
    /** Accepts no more, and calls back once every connection has ended. */
    close(ended: () => void) {
      server.close(() => {
        onEmpty = ended;
        if (taken.size === 0) ended();
      });
    },
    /** Closes connections that wait for no answer. */
    closeIdle() {
      lane.closeIdle();
      server.closeIdleConnections();
    },
    closeAll() {
      lane.closeAll();
      server.closeAllConnections();
    },
  };
}

/** Puts the lane between the server's connections and Node's own reader of them. */
function layLane(
  server: Server,
  event: "connection" | "secureConnection",
  create: (handOver: (socket: Socket) => void) => IngestLane,
): IngestLane {
  const [read] = server.listeners(event) as ((socket: Socket) => void)[];
  if (read === undefined) throw new Error("Node's server reads no connections");
  server.off(event, read);
  const lane = create((socket) => read.call(server, socket));
  server.on(event, lane.accept);
  return lane;
}

interface Door
  extends Pick<ServerOptions, "ingest" | "address" | "connections" | "clock" | "sendOn"> {
  readBody: ReadBody;
  /** The client waits for 100 Continue before it sends the body. */
  isAsked: boolean;
}

function serveIngest(door: Door, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { ingest, address, readBody, connections, clock } = door;
  const { headers } = incoming;
  const reply = (answer: IngestReply) => {
    send(outgoing, answer);
    if (!incoming.complete) readRest(incoming, clock);
  };
  const admit = () =>
    ingest.admit({
      authorization: headers.authorization,
      contentType: headers["content-type"],
      contentEncoding: headers["content-encoding"],
      address: address(incoming.socket.remoteAddress ?? "", forwardedFor(headers)),
    });
  const refused = async (error: unknown) => {
    let isSent = false;
    if (error instanceof ElsewhereError && door.sendOn !== undefined) {
      if (door.isAsked) askFor(incoming, outgoing, NEVER_TAKEN);
      isSent = await door.sendOn({ incoming, outgoing, read: null }, error);
    }
    if (!isSent) reply(ingest.refuse(error));
  };
  const read = (admitted: Awaited<ReturnType<IngestHandler["admit"]>>) => {
    connections.know(incoming.socket);
    if (door.isAsked) askFor(incoming, outgoing, admitted.bodyLimit);
    const of = { owner: admitted.tenant.id, limit: admitted.bodyLimit };
    readBody(incoming, of, (error, body) =>
      body === null ? reply(ingest.refuse(error, admitted)) : ingest.take(admitted, body, reply),
    );
  };
  try {
    const admitted = admit();
    if (admitted instanceof Promise) admitted.then(read, refused);
    else read(admitted);
  } catch (error) {
    reply(ingest.refuse(error));
  }
}

/** A body that will be refused must not be asked for first: 413 instead of 100 Continue. */
function askFor(incoming: IncomingMessage, outgoing: ServerResponse, most: number): void {
  if (!(contentLength(incoming) > most)) outgoing.writeContinue();
}

function send(outgoing: ServerResponse, answer: IngestReply): void {
  if (outgoing.destroyed) return;
  // With its length known, head and body go out in one write.
  answer.headers["content-length"] = String(Buffer.byteLength(answer.body));
  outgoing.writeHead(answer.status, answer.headers);
  outgoing.end(answer.body);
}

function contentLength({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

export function forwardedFor(headers: IncomingMessage["headers"]): string | undefined {
  const value = headers["x-forwarded-for"];
  return Array.isArray(value) ? value.join(",") : value;
}
