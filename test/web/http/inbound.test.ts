import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { findToken } from "../../../src/web/http/inbound/token.ts";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
let made: { token: string; short_token: string };
let events: string;
before(async () => {
  box = await testBox();
  events = await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "all", match: { min_level: 300 } });
  const source = { name: "am", kind: "alertmanager" };
  made = (await box.api("POST", "/v1/projects/p/sources", source)).body;
});
after(() => box.stop());

const group = (status: string, more: object = {}) => ({
  version: "4",
  status,
  alerts: [
    {
      status,
      labels: { alertname: "DiskFull", instance: "db-01:9100", severity: "critical" },
      annotations: { summary: "Disk db-01 is full" },
      startsAt: "2026-01-05T08:59:00Z",
      endsAt: "0001-01-01T00:00:00Z",
      fingerprint: "56303bf2b20108de",
      ...more,
    },
  ],
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(box.url + path, {
    method: "POST",
    headers,
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text };
}

const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;

describe("an address for senders with a format of their own", () => {
  test("a sender whose format has no refusals gets the one shape of errors", async () => {
    const source = { name: "refused", kind: "alertmanager" };
    const { short_token } = (await box.api("POST", "/v1/projects/p/sources", source)).body;
    const own = `/v1/in/alertmanager/${short_token}`;
    const wrong = `/v1/in/alertmanager/${"0".repeat(32)}`;
    for (const [path, body, status, code] of [
      [wrong, "{}", 401, "unauthorized"],
      [own, "{}", 400, "invalid_request"],
      [own, Buffer.alloc(2 * 1024 * 1024 + 1), 413, "body_too_large"],
      [`${own}/elsewhere`, "{}", 404, "not_found"],
    ] as const) {
      const refused = await post(path, body);
      const { error } = JSON.parse(refused.text);
      assert.deepEqual([refused.status, error.code], [status, code], refused.text);
      assert.match(error.message, /\.$/);
      assert.equal(error.request_id, refused.headers.get("x-request-id"));
      const asked = refused.headers.get("www-authenticate");
      assert.equal(asked, status === 401 ? "Bearer" : null);
    }
    const theirs = await post(`/v1/in/opsgenie/${"0".repeat(32)}/v2/alerts`, "{}");
    assert.equal(theirs.status, 401);
    assert.equal(JSON.parse(theirs.text).message, "Could not authenticate");
    assert.equal(theirs.headers.get("www-authenticate"), "Bearer");
  });

  test("fires, repeats and resolves with a token wherever it can stand", async () => {
    const uuid = made.short_token
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
      .toUpperCase();
    const basic = (user: string, password: string) =>
      `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    const ways: [string, Record<string, string>][] = [
      [`/v1/in/alertmanager/${made.token}`, {}],
      [`/v1/in/alertmanager/${made.short_token}`, {}],
      [`/v1/in/alertmanager/${uuid}`, {}],
      ["/v1/in/alertmanager", { authorization: `Bearer ${made.token}` }],
      ["/v1/in/alertmanager", { authorization: `GenieKey ${uuid}` }],
      ["/v1/in/alertmanager", { authorization: basic("anybody", made.short_token) }],
      ["/v1/in/alertmanager", { authorization: basic(made.short_token, "") }],
      [`/v1/in/alertmanager?token=${made.short_token}`, {}],
    ];
    for (const [path, headers] of ways) {
      const fired = await post(path, group("firing"), headers);
      assert.deepEqual(
        [fired.status, fired.text],
        [200, '{"accepted":1,"resolved":0,"rejected":0}'],
      );
    }
    const [alert, ...others] = await alerts();
    assert.deepEqual([others.length, alert.count, alert.level], [0, 1, 500]);
    const ended = await post(`/v1/in/alertmanager/${made.token}`, group("resolved"));
    assert.equal(ended.text, '{"accepted":1,"resolved":1,"rejected":0}');
    assert.equal((await alerts())[0].state, "resolved");
  });

  test("an end that tells of an earlier beginning ends what it ended, and no firing after it", async () => {
    const path = `/v1/in/alertmanager/${made.token}`;
    const [earlier, later] = ["2026-01-05T08:58:45Z", "2026-01-05T09:10:00Z"];
    const ended = async (startsAt: string, endsAt: string) =>
      JSON.parse((await post(path, group("resolved", { startsAt, endsAt }))).text).resolved;
    // Of two Prometheus servers Alertmanager keeps the earlier beginning, and says it first when all is over.
    await post(path, group("firing"));
    assert.equal(await ended(earlier, "2026-01-05T09:04:00Z"), 1);
    await post(path, group("firing", { startsAt: later }));
    assert.equal(await ended(earlier, "2026-01-05T09:04:00Z"), 0, "a late packet");
    assert.equal(await ended(later, later), 1);
  });

  test("a token opens what its source's kind names and nothing else", async () => {
    const strange = [
      ["/v1/in/alertmanager", {}],
      [`/v1/in/alertmanager/${events}`, {}],
      [`/v1/in/prometheus/${made.token}/api/v2/alerts`, {}],
      [`/v1/in/alertmanager/${"0".repeat(32)}`, {}],
      [`/v1/in/alertmanager/${made.token}`, { authorization: `Bearer ${events}` }],
    ] as [string, Record<string, string>][];
    for (const [path, headers] of strange)
      assert.equal((await post(path, group("firing"), headers)).status, 401, path);
    assert.equal((await box.ingest(made.token, { message: "x" })).status, 401);
    assert.equal((await post("/v1/in/nothing", "{}")).status, 404);
  });

  test("ten wrong tokens a minute from an address, whatever the rates; a right one goes through", async () => {
    const other = await testBox({ apiRate: "0" });
    try {
      await other.project("p");
      const source = { name: "am", kind: "alertmanager" };
      const { token } = (await other.api("POST", "/v1/projects/p/sources", source)).body;
      const send = async (as: string) => {
        const body = JSON.stringify(group("firing"));
        return fetch(`${other.url}/v1/in/alertmanager/${as}`, { method: "POST", body });
      };
      const said: number[] = [];
      for (let i = 0; i < 11; i++) said.push((await send("0".repeat(32))).status);
      assert.deepEqual(said, [...Array(10).fill(401), 429]);
      const last = await send("1".repeat(32));
      assert.deepEqual([last.status, last.headers.get("retry-after")], [429, "6"]);
      assert.equal((await send(token)).status, 200);
      await other.clock.turn(6000);
      assert.equal((await send("0".repeat(32))).status, 401);
    } finally {
      await other.stop();
    }
  });

  test("a bad element costs no good one, and is kept for whoever set it up", async () => {
    const body = group("firing");
    const answer = await post(`/v1/in/alertmanager/${made.token}`, {
      ...body,
      alerts: [{ labels: {} }, 7, ...body.alerts],
    });
    assert.equal(answer.text, '{"accepted":1,"resolved":0,"rejected":2}');
    const facts = (await box.api("GET", "/v1/projects/p/sources/am/facts")).body;
    assert.equal(facts.refused.invalid_request, 2);
    assert.equal(facts.last_refused.message, "at least one label pair required");
  });

  test("what can't be read is refused in a form that the sender knows", async () => {
    const path = `/v1/in/alertmanager/${made.token}`;
    assert.equal((await post(path, "{")).status, 400);
    assert.match((await post(path, "{}")).text, /no list of alerts/);
    assert.equal((await post(`${path}/else`, "{}")).status, 404);
    const got = await fetch(box.url + path);
    assert.deepEqual([got.status, got.headers.get("allow")], [405, "POST"]);
    assert.equal((await post(path, "x".repeat(3_000_000))).status, 413);
  });

  test("a byte order mark before the JSON is passed over, here and at /v1/ingest", async () => {
    const marked = `\uFEFF${JSON.stringify(group("firing"))}`;
    assert.equal((await post(`/v1/in/alertmanager/${made.token}`, marked)).status, 200);
    const bearer = { authorization: `Bearer ${events}` };
    const event = `\uFEFF${JSON.stringify({ message: "written by an editor" })}`;
    assert.equal((await post("/v1/ingest", event, bearer)).status, 202);
    const lines = { ...bearer, "content-type": "application/x-ndjson" };
    assert.match(
      (await post("/v1/ingest", `${event}\n{"message":"b"}`, lines)).text,
      /"accepted":2/,
    );
  });

  test("a body as long as a sender may send is asked for, a longer one isn't", async () => {
    const programs = { name: "programs", kind: "sentry" };
    const { token } = (await box.api("POST", "/v1/projects/p/sources", programs)).body;
    const said = (bytes: number) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(box.url).port), "127.0.0.1");
        socket.setTimeout(2000, () => resolve("nothing"));
        socket.once("data", (data) => {
          resolve(data.toString("latin1", 0, 12));
          socket.destroy();
        });
        socket.write(
          `POST /v1/in/sentry/${token}/api/1/envelope/ HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${bytes}\r\n\r\n`,
        );
      });
    assert.equal(await said(20 * 1024 * 1024), "HTTP/1.1 100");
    assert.match(await said(21 * 1024 * 1024), /^HTTP\/1.1 4/);
  });

  test("a compressed body is taken, and a bomb is not", async () => {
    const path = `/v1/in/alertmanager/${made.token}`;
    const zipped = gzipSync(JSON.stringify(group("firing")));
    assert.equal((await post(path, zipped, { "content-encoding": "gzip" })).status, 200);
    const packed = zstdCompressSync(JSON.stringify(group("firing")));
    assert.equal((await post(path, packed, { "content-encoding": "zstd" })).status, 200);
    assert.equal(
      (await post(path, packed.subarray(0, -4), { "content-encoding": "zstd" })).status,
      400,
    );
    // Two hundred megabytes, in pieces of one.
    const bomb = Buffer.concat(Array(200).fill(gzipSync(Buffer.alloc(1_000_000, " "))));
    assert.equal((await post(path, bomb, { "content-encoding": "gzip" })).status, 413);
    assert.equal((await post(path, "no gzip", { "content-encoding": "gzip" })).status, 400);
    assert.equal((await post(path, "x", { "content-encoding": "snappy" })).status, 400);
  });

  test("a large group is taken in parts, and one beyond all measure is refused for good", async () => {
    const path = `/v1/in/alertmanager/${made.token}`;
    const members = (n: number) => ({
      groupKey: "k".repeat(5000),
      status: "resolved",
      alerts: Array.from({ length: n }, (_, i) => ({ labels: { i: String(i) } })),
    });
    // With what its group says of each, more than may ever wait at once: it would be told to come back for ever.
    const taken = await post(path, members(9000));
    assert.deepEqual(
      [taken.status, taken.text],
      [200, '{"accepted":9000,"resolved":0,"rejected":0}'],
    );
    assert.equal((await post(path, members(10_001))).status, 413);
  });

  test("over the rate the sender is told to come back in a way that it heeds", async () => {
    const slow = await testBox({ ingestRate: "1" });
    try {
      await slow.project("p");
      const source = { name: "am", kind: "alertmanager" };
      const { token } = (await slow.api("POST", "/v1/projects/p/sources", source)).body;
      const statuses = new Set<number>();
      for (let i = 0; i < 20; i += 1) {
        const answer = await fetch(`${slow.url}/v1/in/alertmanager/${token}`, {
          method: "POST",
          body: JSON.stringify(group("firing")),
        });
        statuses.add(answer.status);
        if (answer.status === 503) assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]/);
      }
      assert.deepEqual(statuses, new Set([200, 503]));
    } finally {
      await slow.stop();
    }
  });

  test("rotating the tokens closes both doors", async () => {
    const source = { name: "gone", kind: "alertmanager" };
    const old = (await box.api("POST", "/v1/projects/p/sources", source)).body;
    const fresh = (await box.api("POST", "/v1/projects/p/sources/gone/rotate-token")).body;
    for (const token of [old.token, old.short_token])
      assert.equal((await post(`/v1/in/alertmanager/${token}`, group("firing"))).status, 401);
    for (const token of [fresh.token, fresh.short_token])
      assert.equal((await post(`/v1/in/alertmanager/${token}`, group("firing"))).status, 200);
  });

  test("an unknown kind of source is refused by name", async () => {
    const answer = await box.api("POST", "/v1/projects/p/sources", { name: "x", kind: "pigeon" });
    assert.equal(answer.status, 400);
    assert.match(answer.body.error.message, /^\/kind: must be one of events, .*alertmanager/);
  });
});

test("a path that a sender appends is never taken for a token", () => {
  const places = { header: () => undefined, query: new URLSearchParams() };
  assert.deepEqual(findToken({ rest: "/api/v2/alerts", ...places }), {
    token: null,
    path: "/api/v2/alerts",
    conflict: false,
    keys: [],
  });
  const token = "0123456789abcdef0123456789ABCDEF";
  assert.deepEqual(findToken({ rest: `/${token}/api/v2/alerts`, ...places }), {
    token,
    path: "/api/v2/alerts",
    conflict: false,
    keys: [],
  });
});
