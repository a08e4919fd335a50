import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import type { App } from "../../../src/web/http/app.ts";
import { createAppHandler } from "../../../src/web/http/app-door.ts";
import { HttpAnswer } from "../../../src/web/http/http-answer.ts";
import type { IngestHandler } from "../../../src/web/http/ingest.ts";

type Handle = (
  request: Request,
  env: { incoming: IncomingMessage },
) => Response | Promise<Response>;

/** Node's server with the door alone, and a connection to it that says what it got. */
async function door(t: TestContext, handle: Handle) {
  const ingest = { refuse: () => ({ status: 400, headers: {}, body: "no request" }) };
  const handler = createAppHandler(async () => ({ fetch: handle }) as unknown as App, {
    ingest: ingest as unknown as IngestHandler,
    clock: systemClock,
    log: silentLog,
  });
  const server = createServer(handler.serve).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return (): Socket =>
    connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
}

/** All that comes until the server ends the connection. */
async function said(socket: Socket, text: string): Promise<string> {
  socket.end(text);
  const chunks: Buffer[] = await socket.toArray();
  return Buffer.concat(chunks).toString("latin1");
}

const get = (target: string, host: string) =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

test("a request has the address that it was sent to, and one whose address or Host is none is refused", async (t) => {
  const open = await door(t, ({ url }) => new HttpAnswer(url));
  const asked = async (target: string, host: string) =>
    (await said(open(), get(target, host))).split("\r\n\r\n")[1];
  assert.equal(await asked("/a/../b?x=%20", "box.test:8080"), "http://box.test:8080/b?x=%20");
  assert.equal(await asked("/", "Box.Test"), "http://box.test/");
  assert.equal(await asked("/", "[::1]:80"), "http://[::1]/");
  assert.equal(await asked("http://other.test/a", "box.test"), "http://other.test/a");
  assert.equal(await asked("/?a=\\", "box.test"), "http://box.test/?a=\\");
  assert.equal(await asked("/", ""), "http://localhost/");
  for (const host of ["a b", "evil@box.test", "box.test/x", "box.test?", "a%41.test", "127.1"])
    assert.equal(await asked("/", host), "no request", host);
  for (const target of ["/a\\b", "*"]) assert.equal(await asked(target, "box.test"), "no request");
});

test("headers that came twice are joined, and an answer has its cookies apart and its length", async (t) => {
  const open = await door(t, ({ headers, url }) => {
    const text = `${headers.get("X-A")} ${headers.get("cookie")} ${headers.get("x-b")}`;
    const answer = new HttpAnswer(url.endsWith("/none") ? null : text, { status: 201 });
    for (const cookie of ["a=1", "b=2"]) answer.headers.append("Set-Cookie", cookie);
    return answer;
  });
  const head =
    "Host: a\r\nX-A: 1\r\nx-a: 2\r\nCookie: c=1\r\nCookie: d=2\r\nConnection: close\r\n\r\n";
  const text = await said(open(), `GET / HTTP/1.1\r\n${head}`);
  assert.match(text, /^HTTP\/1.1 201 Created\r\ncontent-type: text\/plain;charset=UTF-8\r\n/);
  assert.match(text, /set-cookie: a=1\r\nset-cookie: b=2\r\n/);
  assert.match(text, /content-length: 18\r\n.*\r\n\r\n1, 2 c=1; d=2 null$/s);
  assert.match(await said(open(), `GET /none HTTP/1.1\r\n${head}`), /content-length: 0\r\n/);
  const onlyHead = await said(open(), `HEAD / HTTP/1.1\r\n${head}`);
  assert.doesNotMatch(onlyHead, /content-length|transfer-encoding/i);
  assert.ok(onlyHead.endsWith("\r\n\r\n"));
});

test("what is left unread of a body doesn't hold up the next request of the connection", async (t) => {
  const open = await door(t, async ({ body, method }) => {
    for await (const chunk of body ?? []) return new HttpAnswer(`read ${chunk.length > 0}`);
    return new HttpAnswer(method);
  });
  const post = (body: string) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const size of [10, 2_000_000]) {
    const text = await said(open(), post("x".repeat(size)) + get("/", "a"));
    assert.match(text, /read true.*GET$/s, `${size}`);
  }
});

test("a body that was sent whole is read after its sender has gone", async (t) => {
  let read = "";
  const done = Promise.withResolvers<void>();
  const open = await door(t, async ({ body, signal }, { incoming }) => {
    await new Promise((gone) => incoming.once("close", gone));
    for await (const chunk of body ?? []) read += Buffer.from(chunk).toString();
    assert.equal(signal.aborted, true);
    done.resolve();
    return new HttpAnswer(null);
  });
  const socket = open();
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwhole", () =>
    socket.destroy(),
  );
  await done.promise;
  assert.equal(read, "whole");
});

test("a client that goes away ends the stream that it was sent", async (t) => {
  const ended = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const open = await door(t, ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    const body = new ReadableStream<Uint8Array>({
      start: (own) => own.enqueue(Buffer.from("first")),
      cancel: () => ended.resolve(),
    });
    return new HttpAnswer(body, { headers: { "content-type": "text/event-stream" } });
  });
  const socket = open();
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  let text = "";
  for await (const chunk of socket) {
    text += `${chunk}`;
    if (text.includes("first")) break;
  }
  await Promise.all([ended.promise, aborted.promise]);
});
