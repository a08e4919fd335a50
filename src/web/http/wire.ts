import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { unauthorized } from "./bearer.ts";
import type { IngestReply } from "./ingest.ts";

/** Requests that are no good before any route is asked, and how they are answered on the wire. */

/**
 * What two readers could understand in two ways and the parser lets through: no Host or two, two bearers
 * (RFC 9112 §3.2), and a transfer coding that isn't undone here (RFC 9112 §6.1). Null for a good head.
 */
export function headFault(incoming: IncomingMessage): ServiceError | null {
  const { rawHeaders, headers, httpVersion } = incoming;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return wireError({});
  let hosts = 0;
  let bearers = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 13 && name.toLowerCase() === "authorization") bearers++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    return new ServiceError("invalid_request", "The request must have one Host.");
  if (bearers > 1) return unauthorized();
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return new ServiceError("unsupported_encoding", "The only transfer coding taken is chunked.");
  return null;
}

/** The refusal that an error of Node's parser or clock stands for. */
export function wireError(error: { code?: string | undefined }): ServiceError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ServiceError("request_timeout", "The request took too long to arrive.");
    case "HPE_HEADER_OVERFLOW":
      return new ServiceError("headers_too_large", "The head of the request is too large.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new ServiceError("body_too_large", "The chunk extensions are too large.");
    default:
      return new ServiceError("invalid_request", "This is no well-formed HTTP/1.1 request.");
  }
}

/** Ends a connection whose bytes can't be read on, with an answer where one can only be about them. */
export function endConnection(socket: Socket, reply: () => IngestReply): void {
  if (ending.has(socket)) return;
  ending.add(socket);
  const current = answering(socket);
  if (!socket.writable || current?.headersSent || answered.has(socket)) socket.destroy();
  // An earlier request's answer comes first, and this one's must not be mistaken for it.
  else if (current?.req.complete) current.once("close", () => socket.destroySoon());
  else socket.end(wireText(reply(), "connection: close\r\n"), () => socket.destroy());
}

/** How long the rest of a body is read that was refused before its end. The app's own door does it for 500 ms. */
const REST_MS = 2_000;
/** Connections on which the rest of a body is read: their request has its answer. */
const answered = new WeakSet<Socket>();

/**
 * A connection that is closed while its client still sends takes the answer with it (RFC 9112 §9.6), so what comes is
 * read for a moment and not looked at.
 */
export function readRest(incoming: IncomingMessage, clock: Clock): void {
  const { socket } = incoming;
  answered.add(socket);
  incoming.once("end", () => answered.delete(socket));
  incoming.once(
    "close",
    clock.after(REST_MS, () => socket.destroySoon()),
  );
  incoming.resume();
}

/** Each further byte on them is an error again. */
const ending = new WeakSet<Socket>();

/** The answer that is next to go out on a connection; Node's own handler asks the same way. */
function answering(socket: Socket): ServerResponse<IncomingMessage> | null {
  const { _httpMessage } = socket as Socket & { _httpMessage?: ServerResponse<IncomingMessage> };
  return _httpMessage ?? null;
}

/** A whole answer as it goes over the wire; `fields` are lines of the head that end in CRLF. */
export function wireText({ status, headers, body }: IngestReply, fields: string): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n${fields}\r\n${body}`;
}
