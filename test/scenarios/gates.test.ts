import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { adapters } from "../../src/in/adapters/list.ts";
import { screens } from "../../src/web/console/screens.ts";
import { portNames, webPortKinds } from "../../src/web/intake/port.ts";
import { type Document, readDocument } from "../matrix/document.ts";
import { fixture, pathOf } from "../matrix/fixture.ts";
import { type PageFixture, pageFixture } from "../matrix/page-fixture.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";
import { AT_ONCE, handGate, heldBack } from "../support/gate.ts";
import { until } from "../support/until.ts";
import { smtpTalk } from "../web/intake/smtp-client.ts";

/** A box whose commits have to be in a second place, which is opened by hand: nothing is heard before. */
const gate = handGate();
const PORTS = [...portNames, ...Object.keys(webPortKinds)];
let box: TestBox;
let backups: string;
let document: Document;
let token: string;
before(async () => {
  backups = mkdtempSync(join(tmpdir(), "box-gates-"));
  const flag = (name: string) =>
    name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const ports = Object.fromEntries(
    PORTS.filter((name) => !name.endsWith("-tls")).map((name) => [
      flag(name),
      [`127.0.0.1:0=gates/${name}`],
    ]),
  );
  box = await testBox(
    { backupDir: backups, adaptersListen: "127.0.0.1:0", ...ports },
    undefined,
    undefined,
    { durable: gate.durable },
  );
  document = await readDocument(box.url);
  token = await box.project("gates", { retain_logs: true });
});
after(async () => {
  gate.open();
  await box.stop();
  rmSync(backups, { recursive: true, force: true });
});

const held = <T>(what: string, act: () => Promise<T>) => heldBack(gate, box.url, { what, act });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function ask(url: string, init: RequestInit): Promise<number> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  await answer.text();
  return answer.status;
}

test("no route answers before the gate is opened, but those about the process itself", async () => {
  const shared = await fixture(box);
  for (const operation of document.operations) {
    const f = operation.method === "GET" ? shared : await fixture(box);
    const path = await pathOf(f, operation);
    const body = await f.body(operation);
    const init = {
      method: operation.method,
      headers: operation.scheme === "ingestToken" ? bearer(token) : bearer(box.owner.key),
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    const url = box.url + path;
    if (AT_ONCE.includes(operation.path)) {
      gate.shut();
      assert.ok((await ask(url, init)) < 400, path);
      gate.open();
    } else {
      const status = await held(`${operation.method} ${path}`, () => ask(url, init));
      assert.notEqual(status, 500, path);
    }
  }
});

test("a refusal is held, too: that a token or key opens nothing was read of the store", async () => {
  const { accountId } = box.person("member");
  const revoked = `ptk_${box.tenant.id}_${"a".repeat(43)}`;
  for (const path of ["/v1/me", `/v1/accounts/${accountId}`, "/no such route"])
    assert.equal(
      await held(path, () => ask(box.url + path, { headers: bearer(revoked) })),
      path === "/no such route" ? 404 : 401,
    );
  const gone = token.replace(/_[^_]*$/, `_${"a".repeat(43)}`);
  const init = { method: "POST", headers: bearer(gone), body: '{"message":"x"}' };
  assert.equal(await held("an unknown source", () => ask(`${box.url}/v1/ingest`, init)), 401);
});

test("an answer that waits for more than five seconds is refused, what was done stands, and later answers tell it", async () => {
  gate.shut();
  const init = { method: "POST", headers: bearer(box.owner.key), body: '{"name":"late"}' };
  const before = gate.asked;
  const asked = fetch(`${box.url}/v1/projects`, init);
  const event = { method: "POST", headers: bearer(token), body: '{"message":"late"}' };
  const sent = fetch(`${box.url}/v1/ingest`, event);
  await until(() => gate.asked >= before + 2, "both wait");
  await box.clock.turn(4_900);
  await box.clock.turn(200);
  for (const answer of [await asked, await sent]) {
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "2");
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.equal(error.code, "not_ready");
  }
  gate.open();
  const { projects } = (await box.api("GET", "/v1/projects")).body;
  assert.ok(projects.some(({ name }: { name: string }) => name === "late"));
});

test("no page, file or form of the console answers before, but for its scripts and pictures", async () => {
  for (const { path, files = {}, forms = {} } of screens) {
    const f: PageFixture = await pageFixture(box, box.person("owner"));
    const at = await f.address(path);
    assert.ok((await held(`page ${path}`, () => f.tab.get(at))).status < 500, path);
    for (const suffix of Object.keys(files))
      await held(`file ${path}/${suffix}`, () => f.tab.get(`${at}/${suffix}`));
    const wholes = Object.keys(forms).map((suffix) => (suffix === "" ? path : `${path}/${suffix}`));
    // All before the first is sent, which may be what deletes the thing.
    const sent: [whole: string, to: string][] = [];
    for (const whole of wholes) sent.push([whole, await f.address(whole)]);
    for (const [whole, to] of sent) await held(`form ${whole}`, () => f.tab.post(to, []));
  }
  const f = await pageFixture(box, box.person("owner"));
  for (const path of ["/signin", "/welcome", "/manifest.webmanifest"])
    await held(path, () => f.tab.get(path));
  const page = (await f.tab.get("/alerts")).text;
  const script = /src="([^"]*\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "/assets/none";
  gate.shut();
  assert.equal((await f.tab.get(script)).status, 200);
  gate.open();
});

test("what is told piece by piece is held piece by piece", async () => {
  const tab = signedIn(box);
  const headers = { accept: "text/event-stream", cookie: tab.cookie, ...bearer(box.owner.key) };
  for (const path of ["/v1/changes", "/live"]) {
    const reader = new AbortController();
    const answer = await fetch(box.url + path, { headers, signal: reader.signal });
    assert.equal(answer.status, 200, path);
    let heard = "";
    const reading = (async () => {
      for await (const piece of answer.body ?? []) heard += Buffer.from(piece).toString();
    })().catch(() => {});
    await until(() => heard.includes("retry"), "it has begun");
    heard = "";
    await held(`a change on ${path}`, async () => {
      box.tenant.store.write((tx) => tx.note({ topic: "people" }));
      await box.clock.turn(3_000);
      await until(() => heard.includes("change"), `the change is told on ${path}`);
    });
    reader.abort();
    await reading;
  }
  const streams = /new ReadableStream|ReadableStream\.from/;
  const src = join(import.meta.dirname, "../../src");
  const makers = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("web/browser"))
    .filter((file) => streams.test(readFileSync(join(src, file), "utf8")));
  assert.deepEqual(
    makers.sort(),
    ["web/console/answer.ts", "web/http/changes-stream.ts"],
    "what else is made piece by piece has to hold its pieces, and be told here",
  );
});

test("no sender of any kind is answered before, at any address", async () => {
  for (const { kind } of adapters) {
    const made = await box.api("POST", "/v1/projects/gates/sources", { name: `in-${kind}`, kind });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const init = { method: "POST", headers: bearer(made.body.token), body: "{}" };
    for (const base of [box.url, box.adaptersUrl])
      await held(`${kind} at ${base}`, () => ask(`${base}/v1/in/${kind}`, init));
  }
  const lines = { "content-type": "application/x-ndjson", ...bearer(token) };
  const many = { method: "POST", headers: lines, body: '{"message":"a"}\n{"message":"b"}' };
  assert.equal(await held("lines", () => ask(`${box.url}/v1/ingest`, many)), 202);
  // A head that the short way of events doesn't read.
  const long = { method: "POST", headers: { ...bearer(token), "x-more": "x".repeat(5_000) } };
  const other = { ...long, body: '{"message":"c"}' };
  assert.equal(await held("Node's way", () => ask(`${box.url}/v1/ingest`, other)), 202);
});

test("no port takes more before, or says that it took a message", async (t) => {
  const kinds: Record<string, string> = {
    "syslog-udp": "syslog",
    "syslog-tcp": "syslog",
    "gelf-udp": "gelf",
    "gelf-tcp": "gelf",
    smtp: "email",
    ...webPortKinds,
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const made = await box.api("POST", "/v1/projects/gates/sources", { name, kind });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const walked = Object.keys(kinds);
  assert.deepEqual(
    PORTS.filter((name) => !walked.includes(name)),
    ["syslog-tls"],
    "teach this test the new port; TLS is around the same reader",
  );
  const place = (name: string) => {
    const found = box.ports.find((port) => port.name === name);
    assert.ok(found, name);
    return { host: "127.0.0.1", port: found.port };
  };
  const taken = async (name: string) => {
    const metrics = await fetch(`${box.url}/metrics`, { headers: bearer(box.owner.key) });
    const outcome = `box_port_messages_total{port="${name}",outcome="taken"} `;
    return Number((await metrics.text()).split(outcome)[1]?.split("\n")[0] ?? 0);
  };
  const written = () => box.tenant.ingest.stats().accepted;
  const messages: Record<string, string> = {
    "syslog-udp": "<11>1 - h a - - - one",
    "gelf-udp": '{"version":"1.1","host":"h","short_message":"one"}',
    "syslog-tcp": "<11>1 - h a - - - one\n",
    "gelf-tcp": '{"version":"1.1","host":"h","short_message":"one"}\0',
  };
  for (const [name, message] of Object.entries(messages)) {
    const start = { taken: await taken(name), written: written() };
    const isStream = name.endsWith("-tcp");
    const udp = createSocket("udp4");
    const tcp = isStream ? connect(place(name)) : null;
    t.after(() => {
      tcp?.destroy();
      udp.close();
    });
    if (tcp !== null) await once(tcp, "connect");
    const send = () =>
      tcp === null ? udp.send(message, place(name).port, "127.0.0.1") : tcp.write(message);
    gate.shut();
    send();
    await until(() => written() === start.written + 1, `${name}: the first is written`);
    if (isStream) send();
    for (let i = 0; i < 5; i++) assert.equal(await taken(name), start.taken, name);
    assert.equal(written(), start.written + 1, `${name} reads on`);
    gate.open();
    while ((await taken(name)) < start.taken + (isStream ? 2 : 1)) await pause(1);
  }
  const talk = await smtpTalk(place("smtp"));
  for (const line of ["EHLO h", "MAIL FROM:<a@h>", "RCPT TO:<b@h>", "DATA"]) await talk.say(line);
  const reply = await held("smtp", () => talk.say("Subject: x\r\n\r\nbody\r\n."));
  assert.match(reply, /^250/);
  talk.end();
  for (const [name, path] of [
    ["otlp", "/v1/logs"],
    ["es", "/_bulk"],
  ] as const) {
    const url = `http://127.0.0.1:${place(name).port}${path}`;
    const headers = { "content-type": "application/json" };
    await held(name, () => ask(url, { method: "POST", headers, body: "{}\n" }));
  }
});
