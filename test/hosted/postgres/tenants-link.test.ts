import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as requestTls } from "node:https";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { dialMachine } from "../../../src/app/machine-link.ts";
import { withHosted } from "../../../src/app/offline/hosted.ts";
import { createEgress } from "../../../src/ground/kit/egress.ts";
import { loadKeyRing } from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { realClock } from "../../support/clock.ts";
import { freePort } from "../../support/free-port.ts";
import { onPostgres, testDatabase } from "../../support/postgres.ts";
import { pem, startReceiver } from "../../support/receiver.ts";
import { scratch } from "../../support/scratch.ts";
import { untilSo } from "../../support/until.ts";
import { event, keyFile, nodesOf, shop } from "./tenant-nodes.ts";

/** What goes between the nodes of hosted tenants, and who may listen or speak there. */
const postgresTest = onPostgres(test);

/** Two nodes, of which the first has the tenant. */
async function pair(t: TestContext, flags: object = {}) {
  const made = await testDatabase(t);
  const hostedKey = keyFile(t);
  const start = nodesOf(t, made, hostedKey);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const port = await freePort();
  const a = await start("a", { clusterListen: `127.0.0.1:${port}`, metricsOpen: true });
  const its = await shop(a, receiver);
  const b = await start("b", { clusterListen: "127.0.0.1:0", metricsOpen: true, ...flags });
  return { made, hostedKey, a, b, its, port };
}

postgresTest("a stream is sent on piece by piece, until its reader leaves", async (t) => {
  const { a, b, its } = await pair(t);
  const leaves = new AbortController();
  const stream = await fetch(`${b.url}/v1/changes`, {
    headers: { authorization: `Bearer ${its.key}`, accept: "text/event-stream" },
    signal: leaves.signal,
  });
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get("content-type") ?? "", /^text\/event-stream/);
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  let heard = "";
  const piece = async () => {
    heard += new TextDecoder().decode((await reader.read()).value);
  };
  await piece();
  assert.equal((await event(a.url, its.token, 1)).status, 202);
  while (!/alerts?/.test(heard)) await piece();
  leaves.abort();
  await assert.rejects(reader.read());
  const open = async () => {
    const metrics = String((await a.call("GET", "/metrics")).body);
    return Number(/^box_hosted_tenants_open (\d+)$/m.exec(metrics)?.[1]);
  };
  assert.equal(await open(), 1);
});

postgresTest("a client of HTTP/1.0 gets another node's answer whole, and its end", async (t) => {
  const { b, its } = await pair(t);
  const { port } = new URL(b.url);
  const said = async (words: string) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(words);
    return text(socket);
  };
  const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;
  const read = await said(`GET /v1/projects HTTP/1.0\r\n${bearer(its.key)}\r\n`);
  const [head = "", body = ""] = read.split("\r\n\r\n");
  assert.match(head, /^HTTP\/1\.[01] 200 /);
  assert.doesNotMatch(head, /transfer-encoding/i);
  assert.equal(JSON.parse(body).projects[0].name, "shop");
  const one = JSON.stringify({ message: "of an old program", keys: { n: "1" } });
  const sent = await said(
    `POST /v1/ingest HTTP/1.0\r\n${bearer(its.token)}Content-Type: application/json\r\nContent-Length: ${one.length}\r\n\r\n${one}`,
  );
  assert.match(sent, /^HTTP\/1\.[01] 202 /);
});

postgresTest("what comes by TLS is sent on, and is known to have come so", async (t) => {
  const certificate = join(scratch(t), "node.pem");
  writeFileSync(certificate, pem("good"));
  const { b, its } = await pair(t, { tlsCert: certificate, tlsKey: certificate });
  const body = JSON.stringify({ message: "by TLS", keys: { n: "1" } });
  const asked = requestTls(`${b.url}/v1/ingest`, {
    ca: pem("authority"),
    checkServerIdentity: () => undefined,
    method: "POST",
    headers: {
      authorization: `Bearer ${its.token}`,
      "content-type": "application/json",
      "content-length": body.length,
    },
  });
  asked.end(body);
  const [answer] = await once(asked, "response");
  assert.equal(answer.statusCode, 202, await text(answer));
});

postgresTest(
  "a stranger at a node's link gets nothing, and the key's holder no other port",
  async (t) => {
    const { a, its, hostedKey, port } = await pair(t);
    const clock = realClock();
    const egress = createEgress({ clock, rules: { role: "box" } });
    t.after(() => egress.close());
    const others = scratch(t);
    writeFileSync(join(others, "hosted.key"), randomBytes(32), { mode: 0o600 });
    const ring = (dir: string) => () => loadKeyRing(dir, "hosted.key").ring;
    const came = { address: "203.0.113.7", peerPort: 1, isSecure: false, certificate: null };
    const dial = (dir: string, name: string) =>
      dialMachine(
        { host: "127.0.0.1", port },
        { ...came, port: name },
        { clock, egress, keys: ring(dir) },
      );
    await assert.rejects(dial(others, "tenants"), /psk identity/i);
    for (const name of ["http", "listen", "metrics", "serve.sock", ""])
      await assert.rejects(dial(dirname(hostedKey), name));
    // Without TLS nothing is said at all.
    const plain = connect(port, "127.0.0.1");
    plain.on("error", () => {});
    plain.write(`GET /v1/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${its.key}\r\n\r\n`);
    assert.doesNotMatch(await text(plain).catch(() => ""), /HTTP|shop/);
    // Whoever has the key is a node; what it sends on has to show whose it is, too.
    const link = await dial(dirname(hostedKey), "tenants");
    link.resume();
    link.write("GET /v1/projects HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert.match(await text(link), /^HTTP\/1\.1 401 /);
    assert.equal((await event(a.url, its.token, 1)).status, 202);
  },
);

postgresTest("of a key that an operator adds the database has a hash alone", async (t) => {
  const made = await testDatabase(t);
  const hostedKey = keyFile(t);
  const start = nodesOf(t, made, hostedKey);
  const first = await start("a");
  const { tenant_id: tenant } = await first.desk((desk) => desk.addTenant({ kind: "hosted" }));
  await first.stop();
  const database = made.open();
  const deps = { data: scratch(t), clock: realClock(), random: systemRandom };
  const adding = withHosted({ ...deps, database: made.url, hostedKey }, (desk) =>
    desk.addKey({ tenant, email: "ada@example.com" }),
  );
  const rows = () => database.query<{ what: string }>("SELECT * FROM tenant_handed");
  let waiting: object[] = [];
  await untilSo(async () => {
    waiting = await rows();
    return waiting.length > 0;
  }, "the key waits for a node");
  const node = await start("b");
  const { api_key: key } = await adding;
  const handed = JSON.stringify(waiting);
  assert.ok(handed.includes(createHash("sha256").update(key).digest("hex")), handed);
  assert.ok(!handed.includes(key) && !handed.includes(key.split("_").at(-1) ?? ""));
  assert.equal((await rows()).length, 0);
  assert.equal((await node.call("GET", "/v1/projects", { token: key })).status, 200);
});
