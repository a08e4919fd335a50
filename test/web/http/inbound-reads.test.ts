import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { parseMatcher, parsePattern } from "../../../src/web/http/inbound/matchers.ts";
import { without } from "../../faults/tools.ts";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
let token: string;
before(async () => {
  box = await testBox();
  await box.project("shop");
  const rule = { name: "disks", identifier_keys: ["instance"] };
  await box.api("POST", "/v1/projects/shop/rules", rule);
  const source = { name: "prom", kind: "prometheus" };
  ({ token } = (await box.api("POST", "/v1/projects/shop/sources", source)).body);
  const alert = (instance: string) => ({
    labels: { alertname: "DiskFull", instance, severity: "warn" },
    annotations: { summary: `Disk ${instance} is full` },
  });
  await fetch(`${box.url}/v1/in/prometheus/${token}/api/v2/alerts`, {
    method: "POST",
    body: JSON.stringify([alert("db-01"), alert("db-02"), alert("web-01")]),
  });
  await box.api("POST", "/v1/alerts/2/ack");
});
after(() => box.stop());

const basic = (password: string) =>
  `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`;

async function read(path: string, authorization = `Bearer ${box.owner.key}`, method = "GET") {
  const answer = await fetch(`${box.url}/v1/in/prometheus${path}`, {
    method,
    headers: authorization === "" ? {} : { authorization },
  });
  const text = await answer.text();
  // Ten wrong keys a minute are taken of an address.
  if (answer.status === 401) await box.clock.turn(6000);
  const isJson = answer.headers.get("content-type") === "application/json";
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}

const instances = async (query: string) =>
  ((await read(`/api/v2/alerts${query}`)).body as { labels: { instance: string } }[])
    .map(({ labels }) => labels.instance)
    .sort();

describe("what amtool and karma read of an Alertmanager", () => {
  test("takes a person's key as Bearer or password; a source's token opens the status alone", async () => {
    for (const authorization of [`Bearer ${box.owner.key}`, basic(box.owner.key)])
      assert.equal((await read("/api/v2/alerts", authorization)).status, 200);
    const status = await read(`/${token}/api/v2/status`, "");
    assert.deepEqual(
      [status.status, status.body.cluster],
      [200, { peers: [], status: "disabled" }],
    );
    for (const path of [
      "/api/v2/alerts",
      "/api/v2/alerts/groups",
      "/api/v2/receivers",
      "/metrics",
    ]) {
      assert.equal((await read(path, "")).status, 401, path);
      assert.equal((await read(`/${token}${path}`, "")).status, 401, path);
      assert.equal((await read(path, `Bearer ${token}`)).status, 401, path);
    }
  });

  test("every role may read, and whoever has no key that is known may not", async () => {
    const paths = ["/api/v2/status", "/api/v2/receivers", "/api/v2/alerts", "/api/v2/silences"];
    for (const role of ["owner", "admin", "member"] as const)
      for (const path of [...paths, "/api/v2/alerts/groups", "/metrics"]) {
        const { key } = box.person(role);
        assert.equal((await read(path, `Bearer ${key}`)).status, 200, `${role} ${path}`);
        // Once is enough, and each costs an address six seconds.
        if (role !== "owner") continue;
        for (const wrong of [
          `Bearer ${key}x`,
          `Bearer ${key} ${key}`,
          `GenieKey ${token}`,
          basic(""),
        ])
          assert.equal(
            (await read(path, wrong)).status,
            path.endsWith("status") && wrong.includes(token) ? 200 : 401,
            wrong,
          );
      }
  });

  test("alerts with what is known of them, by state, receiver and label", async () => {
    const { body } = await read("/api/v2/alerts?filter=instance%3Ddb-01");
    const [alert, ...others] = body;
    assert.equal(others.length, 0);
    assert.deepEqual(alert.labels, {
      alertname: "DiskFull",
      instance: "db-01",
      project: "shop",
      severity: "warn",
    });
    assert.equal(alert.annotations.summary, "Disk db-01 is full");
    assert.deepEqual(alert.status, { inhibitedBy: [], silencedBy: [], state: "active" });
    assert.deepEqual(alert.receivers, [{ name: "shop" }]);
    assert.match(alert.endsAt, /^2026-.*Z$/);
    assert.deepEqual(await instances(""), ["db-01", "db-02", "web-01"]);
    assert.deepEqual(await instances("?silenced=false"), ["db-01", "web-01"]);
    assert.deepEqual(await instances("?active=false"), ["db-02"]);
    assert.deepEqual(await instances('?filter=instance=~"db-.*"&filter=instance!="db-02"'), [
      "db-01",
    ]);
    assert.deepEqual(await instances("?receiver=nobody"), []);
    assert.equal((await read("/api/v2/alerts?filter=(")).status, 400);
    const groups = (await read("/api/v2/alerts/groups")).body;
    assert.deepEqual([groups.length, groups[0].alerts.length], [1, 3]);
    assert.deepEqual((await read("/api/v2/receivers")).body, [{ name: "shop" }]);
    assert.deepEqual((await read("/api/v2/silences")).body, []);
    assert.match((await read("/metrics")).body, /^alertmanager_build_info\{version="/);
    assert.equal((await read("/api/v2/alerts", undefined, "DELETE")).status, 401);
  });

  test("the real amtool shows them", { skip: without("amtool") }, async () => {
    const url = new URL(box.url);
    url.username = "anybody";
    url.password = box.owner.key;
    const ask = async (...words: string[]) => {
      const args = [`--alertmanager.url=${url.href}v1/in/prometheus`, "-o", "json", ...words];
      const { stdout } = await promisify(execFile)("amtool", args, {
        env: { HOME: "/nonexistent" },
      });
      return JSON.parse(stdout);
    };
    const shown = await ask("alert", "query", "instance=~db.*");
    assert.deepEqual(
      shown.map((alert: { labels: { instance: string } }) => alert.labels.instance),
      ["db-01"],
    );
    assert.deepEqual(await ask("silence", "query"), []);
  });
});

test("a matcher reads what Alertmanager's readers write, and takes no long time over anything", () => {
  const labels = { a: "one two", 'b"': "x" };
  const cases: [string, boolean | null][] = [
    ...([
      ['a="one two"', true],
      ["a=one two", true],
      ["a!=one", true],
    ] as [string, boolean][]),
    ...([
      ["a=~one.*", true],
      ["a=~(one|two)", false],
      ['a=~".+ two"', true],
    ] as [string, boolean][]),
    ...([
      ["a!~.*two", false],
      ['"b\\""=x', true],
      ["c=", true],
      ["c=~.+", false],
    ] as [string, boolean][]),
    ...([
      ["a", null],
      ["=x", null],
      ["a=~[a-z]+", null],
      ["a=~(a(b))", null],
    ] as [string, null][]),
    ["a=~a\\d", null],
  ];
  for (const [text, holds] of cases)
    assert.equal(parseMatcher(text)?.(labels) ?? null, holds, text);
  const from = performance.now();
  parsePattern(`${".*a".repeat(300)}b`)?.("a".repeat(20_000));
  // Each escape could be read in two ways, and thirty of them in a thousand million.
  assert.equal(parsePattern(`${"\\.".repeat(28)}((`), null);
  assert.equal(parsePattern("a\\.b")?.("a.b"), true);
  assert.ok(performance.now() - from < 2000);
});
