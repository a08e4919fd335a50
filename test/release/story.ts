import assert from "node:assert/strict";
import { isSignedBy, readSignatureHeaders } from "../../src/ground/kit/sign.ts";
import { type Received, startReceiver } from "../support/receiver.ts";
import type { Machine, Served } from "./machine.ts";

/**
 * From the first start to a lost disk: pair, ingest, alert, webhook, backup, the program removed and
 * installed again, the data lost and restored.
 */
export async function story(machine: Machine): Promise<void> {
  const receiver = await startReceiver();
  const served: Served[] = [];
  const serve = async () => {
    const started = await machine.serve();
    served.push(started);
    return started;
  };
  try {
    const first = await serve();
    const key = await pair(machine, first);
    const { token, secret } = await configure(first, key, receiver.url);
    assert.equal((await ingest(first, token, "payment 4711 failed after 30 s")).alerted, true);
    assertSigned(await receiver.next(), secret);

    const taken = await machine.box("backup", machine.backup, "--with-key");
    assert.ok(taken.size > 0);
    assert.equal((await machine.box("verify", machine.backup)).ok, true);
    assert.equal(await first.stop(), 0);

    await machine.reinstall();
    const second = await serve();
    assert.equal((await alerts(second, key))[0]?.state, "open", "the data outlives the program");
    assert.equal((await call(second, key, "POST", "/v1/alerts/1/ack")).state, "acknowledged");
    assert.equal(await second.stop(), 0);

    await machine.loseData();
    const restored = await machine.box("restore", machine.backup);
    assert.equal(restored.keys, true);
    const third = await serve();
    assert.deepEqual(
      (await alerts(third, key)).map(({ id, state, count }) => [id, state, count]),
      [["1", "open", 1]],
      "as it was when the backup was made",
    );
    await ingest(third, token, "disk sda1 is full");
    const page = await receiver.next();
    assert.equal(JSON.parse(page.body).last_message, "disk sda1 is full", "no page is sent twice");
    assertSigned(page, secret);
    assert.equal(receiver.received.length, 2);
    assert.equal(await third.stop(), 0);
  } finally {
    for (const each of served) await each.stop();
    await receiver.close();
  }
}

async function pair(machine: Machine, served: Served): Promise<string> {
  const { code } = await machine.box("pair-code");
  const body = { code, email: "me@example.org", password: "correct horse" };
  const { api_key } = await call(served, "", "POST", "/v1/pair", body);
  return api_key;
}

async function configure(
  served: Served,
  key: string,
  receiver: string,
): Promise<{ token: string; secret: string }> {
  await call(served, key, "POST", "/v1/projects", { name: "shop" });
  const at = "/v1/projects/shop";
  const { token } = await call(served, key, "POST", `${at}/sources`, { name: "web" });
  const rule = { name: "errors", match: { min_level: 400 } };
  await call(served, key, "POST", `${at}/rules`, rule);
  const hook = { url: `${receiver}/hook`, events: ["alert.opened"] };
  const { secret } = await call(served, key, "POST", `${at}/webhooks`, hook);
  return { token, secret };
}

function ingest(served: Served, token: string, message: string) {
  return call(served, token, "POST", "/v1/ingest", { message, level: 400 });
}

async function alerts(
  served: Served,
  key: string,
): Promise<{ id: string; state: string; count: number }[]> {
  return (await call(served, key, "GET", "/v1/alerts")).alerts;
}

async function call(
  served: Served,
  token: string,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
): Promise<any> {
  const answer = await fetch(served.url + path, {
    method,
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

function assertSigned({ headers, body }: Received, secret: string): void {
  const given = readSignatureHeaders(
    headers["x-service-timestamp"],
    headers["x-service-signature"],
  );
  assert.ok(given !== null && isSignedBy(secret, given, body), "the webhook's signature");
}
