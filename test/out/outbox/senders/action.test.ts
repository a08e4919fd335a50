import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { type ActionRequest, sendAction } from "../../../../src/out/outbox/senders/action.ts";
import { boxEgress } from "../../../support/egress.ts";
import * as receivers from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: receivers.Receiver;
beforeEach(async () => {
  receiver = await receivers.startReceiver();
});
afterEach(() => receiver.close());

const eventBody = '{"event":"alert.opened"}';

function send(changes: Partial<ActionRequest> = {}) {
  return sendAction(
    { egress },
    {
      method: "POST",
      url: receiver.url,
      headers: {},
      body: null,
      eventBody,
      timeoutSeconds: 1,
      ...changes,
    },
  );
}

test("the event's body goes out unsigned when none is stored, by any method", async () => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    const outcome = await send({ method, timeoutSeconds: 0 });
    assert.deepEqual(outcome.verdict, { kind: "delivered", status: 204 });
    const request = receiver.received.at(-1);
    assert.deepEqual([request?.method, request?.body], [method, eventBody]);
    assert.equal(request?.headers["content-type"], "application/json");
    assert.equal(request?.headers["x-service-signature"], undefined);
  }
});

test("the stored body and headers beat the defaults", async () => {
  const headers = { "content-TYPE": "text/plain", "user-agent": "mine", Authorization: "Bearer a" };
  await send({ headers, body: "restart" });
  const [request] = receiver.received;
  assert.equal(request?.body, "restart");
  assert.equal(request?.headers["content-type"], "text/plain");
  assert.equal(request?.headers["user-agent"], "mine");
  assert.equal(request?.headers["authorization"], "Bearer a");
});

test("each answer has its verdict, status and error", async () => {
  const rows: [receivers.Behaviour, string, number | null, string][] = [
    [receivers.answer(200), "delivered", 200, ""],
    [receivers.answer(500), "later", 500, "http 500"],
    [receivers.answer(503), "later", 503, "http 503"],
    [receivers.answer(429), "later", 429, "http 429"],
    [receivers.answer(404), "never", 404, "http 404"],
    [receivers.answer(410), "never", 410, "http 410"],
    [receivers.redirect("/x"), "never", 302, "http 302: redirect not followed"],
    [receivers.reset, "later", null, "reset"],
    [receivers.hangUp, "later", null, "closed"],
    [receivers.hang, "timed_out", null, "timeout"],
    [receivers.hangInBody(200), "timed_out", 200, "body_too_slow"],
    [receivers.hangInBody(500), "later", 500, "http 500"],
    [receivers.resetInBody(200), "delivered", 200, ""],
  ];
  for (const [behaviour, kind, status, error] of rows) {
    receiver.once(behaviour);
    const outcome = await send();
    const { verdict, statusCode } = outcome;
    assert.deepEqual([verdict.kind, statusCode, outcome.error], [kind, status, error]);
    assert.ok(outcome.durationMs >= 0 && outcome.durationMs < 20_000);
  }
});

test("what never connected may be tried again, what can't be sent may not", async () => {
  const gone = await receivers.startReceiver();
  await gone.close();
  const refused = await send({ url: gone.url });
  assert.deepEqual(refused.verdict, { kind: "later", error: "refused" });
  for (const changes of [{ url: "nonsense" }, { headers: { expect: "x" } }]) {
    assert.equal((await send(changes)).verdict.kind, "never");
  }
});

test("the answer's first 1,024 characters are kept, the secrets in them masked", async () => {
  const headers = { Authorization: "Bearer canary-header" };
  const body = '{"key":"canary-body"}';
  receiver.always((response, _socket, request) => {
    const echoed = `${request.headers["authorization"]} ${request.body} canary-header canary-body `;
    response.end(`${echoed}${"é".repeat(1_985)}canary-header${"x".repeat(9_000)}`);
  });
  const { responsePrefix } = await send({ headers, body });
  assert.ok(responsePrefix.startsWith("[sealed] [sealed] [sealed] [sealed] ééé"));
  assert.equal([...responsePrefix].length, 1_024);

  // The limit of what is read goes through the last secret.
  const secret = `canary-${"x".repeat(900)}`;
  receiver.always((response) => void response.end(secret.repeat(9)));
  const cutThrough = await send({ headers: { a: secret } });
  assert.equal(cutThrough.responsePrefix, "[sealed]");
  receiver.always((response, socket) => {
    response.writeHead(200, { "content-length": "999" });
    response.write(`you sent ${secret.slice(0, 50)}`, () => socket.resetAndDestroy());
  });
  const brokenOff = await send({ headers: { a: secret } });
  assert.equal(brokenOff.responsePrefix, "you sent [sealed]");
});
