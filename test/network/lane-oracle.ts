import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { readLaneHead } from "../../src/web/http/lane-head.ts";
import { constructionLimits, serverLimits } from "../../src/web/http/server-limits.ts";
import { headFault } from "../../src/web/http/wire.ts";

/** Node's server, as the box has it, but for its connections. */
const server = createServer(constructionLimits(serverLimits));
server.maxHeadersCount = 100;

/** A connection without a network. */
class Wire extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

type Request = IncomingMessage & { keepsAlive: boolean };

/** What Node's server makes of the first bytes of a connection. */
function readByNode(bytes: Buffer): { requests: Request[]; errors: Error[] } {
  const requests: Request[] = [];
  const errors: Error[] = [];
  const take = (request: IncomingMessage, response: ServerResponse) =>
    void requests.push(Object.assign(request, { keepsAlive: response.shouldKeepAlive }));
  const fail = (error: Error) => void errors.push(error);
  for (const event of ["request", "checkContinue", "checkExpectation", "upgrade", "connect"])
    server.on(event, take);
  server.on("clientError", fail);
  const wire = new Wire();
  server.emit("connection", wire);
  wire.emit("data", bytes);
  server.removeAllListeners("clientError");
  for (const event of ["request", "checkContinue", "checkExpectation", "upgrade", "connect"])
    server.removeAllListeners(event);
  wire.destroy();
  return { requests, errors };
}

/**
 * Where the ingest lane takes these bytes, Node's server reads the same: one whole request of the same fields
 * and body, with nothing behind it. Answers whether it takes them.
 */
export function readsLikeNode(bytes: Buffer): boolean {
  const end = bytes.indexOf("\r\n\r\n");
  const head = end === -1 ? null : readLaneHead(bytes.toString("latin1", 0, end));
  if (head === null || end + 4 + head.length !== bytes.length) return false;
  const { requests, errors } = readByNode(bytes);
  assert.deepEqual(errors, []);
  assert.equal(requests.length, 1);
  const [request] = requests as [Request];
  assert.equal(headFault(request), null);
  assert.deepEqual(
    [request.method, request.url, request.httpVersion],
    ["POST", "/v1/ingest", "1.1"],
  );
  const { headers } = request;
  assert.deepEqual(
    {
      length: Number(headers["content-length"]),
      closes: !request.keepsAlive,
      authorization: headers.authorization,
      contentType: headers["content-type"],
      forwardedFor: headers["x-forwarded-for"],
    },
    head,
  );
  for (const name of ["transfer-encoding", "content-encoding", "expect", "upgrade"])
    assert.equal(headers[name], undefined);
  assert.equal(request.complete, true);
  assert.deepEqual(request.read() ?? Buffer.alloc(0), bytes.subarray(end + 4));
  return true;
}
