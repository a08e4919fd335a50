import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe } from "node:test";
import { promisify } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { sentry } from "../../../src/in/adapters/sentry.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { long, test } from "../../support/long.ts";
import { decodesCleanly, sent } from "./clean.ts";
import { sentryEnvelope, sentryError } from "./hook-samples.ts";

const run = promisify(execFile);
const path = "/api/1/envelope/";

function events(body: string, more: object = {}) {
  const decoded = decodesCleanly(sentry, sent(body, { path, ...more }));
  assert.ok(decoded !== null, "refused");
  return decoded;
}

describe("an envelope", () => {
  test("an error has its exception, its stack newest first and keys for rules, and no personal address", () => {
    const [event] = events(sentryEnvelope([["event", sentryError()]])).events;
    assert.deepEqual(
      [event?.message, event?.level],
      ["TypeError: x is undefined (caused by RangeError: the cause)", 400],
    );
    assert.equal(event?.extra?.details, "pay (shop:7)\nmain (shop:7)\nrun (shop:7)");
    assert.deepEqual(event?.tags, ["sentry", "production"]);
    const { "sentry.group": group = "", ...keys } = { ...event?.keys };
    assert.match(group, /^[0-9a-f]{16}$/);
    assert.deepEqual(keys, {
      environment: "production",
      release: "shop@1.4.2",
      "exception.type": "TypeError",
      mechanism: "onunhandledrejection",
      handled: "false",
      "user.id": "4711",
      trace_id: "6236296415ff468c9612f24edc4f833c",
      event_id: "4559a37a1d4349fbb337266fef3a657a",
      "tag.tenant": "acme",
    });
    const options = { sentry_pii: true };
    const [known] = events(sentryEnvelope([["event", sentryError()]]), { options }).events;
    assert.equal(known?.keys?.["user.email"], "customer@example.com");
  });

  test("a message has its parameters filled in, an error its first cause", () => {
    const message = (event: object) =>
      events(sentryEnvelope([["event", event]])).events[0]?.message;
    const logged = (logentry: object) => message({ level: "error", logentry });
    assert.equal(logged({ message: "paid %s for %d", params: ["ann", 7] }), "paid ann for 7");
    assert.equal(logged({ message: "paid {} for {1}", params: ["ann", 7] }), "paid ann for 7");
    assert.equal(logged({ message: "paid %(who)s", params: { who: "ann" } }), "paid ann");
    assert.equal(logged({ message: "100 % of {}", params: [] }), "100 % of {}");
    const values = [
      { type: "ECONNREFUSED", value: "10.0.0.7:5432" },
      { type: "PaymentError", value: "not stored" },
    ];
    assert.equal(
      message({ exception: { values } }),
      "PaymentError: not stored (caused by ECONNREFUSED: 10.0.0.7:5432)",
    );
  });

  test("an event's id may be only in the envelope's headers", () => {
    const id = "4559a37a1d4349fbb337266fef3a657a";
    const body = `{"event_id":"${id}"}\n{"type":"event"}\n{"message":"a","level":"error"}\n`;
    const decoded = events(body);
    assert.deepEqual([decoded.ids, decoded.events[0]?.keys?.["event_id"]], [[id], id]);
  });

  test("newlines in attachments, items without a length and unknown items lose no event", () => {
    const error = JSON.stringify(sentryError());
    const body = `{}\n{"type":"attachment","length":3}\na\nb\n{"type":"novel"}\nx\n{"type":"event"}\n${error}`;
    assert.equal(events(body).events.length, 1);
    assert.deepEqual(events(`{}\n{"type":"session"}\n{}\n`).events, []);
  });

  test("an item shorter than its length is refused; the items before it are accepted", () => {
    const whole = sentryEnvelope([["event", sentryError()]]);
    const { events: taken, answer } = events(`${whole}{"type":"event","length":400}\n{}`);
    assert.equal(taken.length, 1);
    assert.equal(answer({ accepted: 1, resolved: 0, rejected: 1 }).status, 400);
  });
});

describe("programs with an SDK", () => {
  let box: TestBox;
  let token: string;
  before(async () => {
    box = await testBox();
    await box.project("p");
    const match = { min_level: 300 };
    await box.api("POST", "/v1/projects/p/rules", { name: "all", match });
    const source = { name: "shop", kind: "sentry" };
    token = (await box.api("POST", "/v1/projects/p/sources", source)).body.short_token;
  });
  after(() => box.stop());

  const post = (body: string | Uint8Array, init: { url?: string; headers?: object } = {}) =>
    fetch(`${box.url}/v1/in/sentry${init.url ?? `${path}?sentry_key=${token}&sentry_version=7`}`, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      headers: { ...init.headers },
    });
  const facts = async () => (await box.api("GET", "/v1/projects/p/sources/shop/facts")).body;

  long(
    "@sentry/node: an error, a message and a check-in arrive, and the SDK stops sending what the box drops",
    async () => {
      const { host } = new URL(box.url);
      const script = `
      import * as Sentry from "@sentry/node";
      Sentry.init({ dsn: "http://${token}@${host}/v1/in/sentry/1", environment: "production" });
      Sentry.captureException(new TypeError("no price for order 17"));
      Sentry.captureMessage("provider answered slowly", "warning");
      Sentry.captureCheckIn({ monitorSlug: "nightly", status: "error" });
      await Sentry.flush(5000);
    `;
      await run(process.execPath, ["--input-type=module", "-e", script], { timeout: 60_000 });
      const { alerts } = (await box.api("GET", "/v1/alerts")).body;
      const seen = alerts.map((alert: { last_message: string; level: number }) => [
        alert.last_message,
        alert.level,
      ]);
      assert.deepEqual(seen.sort(), [
        ["Job nightly failed", 400],
        ["TypeError: no price for order 17", 400],
        ["provider answered slowly", 300],
      ]);
      const ok = sentryEnvelope([["check_in", { monitor_slug: "nightly", status: "ok" }]]);
      assert.equal((await post(ok)).status, 200);
      const list = (await box.api("GET", "/v1/alerts")).body.alerts;
      const job = list.find((alert: { last_message: string }) =>
        /nightly/.test(alert.last_message),
      );
      assert.equal(job.state, "resolved");
    },
  );

  test("the same event sent again is not counted again", async () => {
    const before = (await facts()).accepted;
    const body = sentryEnvelope([["event", sentryError("a".repeat(32))]]);
    for (let i = 0; i < 3; i++) {
      const answer = await post(body);
      assert.deepEqual([answer.status, await answer.json()], [200, { id: "a".repeat(32) }]);
      assert.match(answer.headers.get("x-sentry-rate-limits") ?? "", /^3600:transaction;/);
    }
    assert.equal((await facts()).accepted, before + 1);
  });

  test("a key in the header or in the envelope, bodies compressed in three ways, single events", async () => {
    const key = { "x-sentry-auth": `Sentry sentry_version=7, sentry_key=${token}` };
    const one = (id: string) => sentryEnvelope([["event", sentryError(id.repeat(32))]]);
    const gzip = { ...key, "content-encoding": "gzip" };
    const br = { ...key, "content-encoding": "br" };
    assert.equal((await post(gzipSync(one("b")), { url: path, headers: gzip })).status, 200);
    assert.equal(
      (await post(brotliCompressSync(one("c")), { url: path, headers: br })).status,
      200,
    );
    const dsn = { dsn: `http://${token}@box.example.com/1` };
    const tunnelled = sentryEnvelope([["event", sentryError("d".repeat(32))]], dsn);
    assert.equal((await post(tunnelled, { url: path })).status, 200);
    const stored = await post(JSON.stringify(sentryError("e".repeat(32))), {
      url: "/api/42/store/",
      headers: key,
    });
    assert.deepEqual(await stored.json(), { id: "e".repeat(32) });
  });

  test("the stored body of a refused envelope doesn't show the key in it", async () => {
    const headers = JSON.stringify({ trace: { public_key: token } });
    assert.equal((await post(`${headers}\n{"type":"event","length":400}\n{}`)).status, 400);
    const { last_refused: last } = await facts();
    assert.match(last.body, /public_key/);
    assert.ok(!last.body.includes(token));
  });

  test("a browser's preflight is answered, and it can read a refusal", async () => {
    const asked = await fetch(`${box.url}/v1/in/sentry${path}`, { method: "OPTIONS" });
    assert.deepEqual([asked.status, asked.headers.get("access-control-allow-origin")], [200, "*"]);
    const refused = await post("{}\n", { url: path });
    assert.deepEqual(
      [refused.status, refused.headers.get("access-control-allow-origin")],
      [403, "*"],
    );
    assert.match(await refused.text(), /missing authorization/);
    assert.equal((await post("no envelope")).status, 400);
  });
});
