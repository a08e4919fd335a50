import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { compileLabels } from "../../../src/core/quiet/labels.ts";
import { SilenceFault, silenceWriteOf } from "../../../src/web/http/inbound/silence-form.ts";
import { without } from "../../faults/tools.ts";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";
import { scratch } from "../../support/scratch.ts";

/** Alertmanager's API of silences below `/v1/in/prometheus`. */

const HOUR = 3600;

async function story(t: TestContext, clock = handClock()) {
  const box = await testBox({}, clock);
  t.after(() => box.stop());
  for (const project of ["shop", "bank"]) {
    await box.project(project);
    const rule = { name: "disks", identifier_keys: ["instance"] };
    await box.api("POST", `/v1/projects/${project}/rules`, rule);
  }
  const source = { name: "prom", kind: "prometheus" };
  const { token } = (await box.api("POST", "/v1/projects/shop/sources", source)).body;
  const alert = (instance: string, severity = "warn") => ({
    labels: { alertname: "DiskFull", instance, severity },
  });
  const fire = async (...alerts: object[]) => {
    const sent = await fetch(`${box.url}/v1/in/prometheus/${token}/api/v2/alerts`, {
      method: "POST",
      body: JSON.stringify(alerts),
    });
    assert.equal(sent.status, 200, await sent.text());
  };
  const now = Math.floor(box.clock.now() / 1000);
  const time = (hours: number) => new Date((now + hours * HOUR) * 1000).toISOString();
  const call = async (
    method: string,
    path: string,
    body?: object,
    { key = box.owner.key, at = "" } = {},
  ) => {
    const answer = await fetch(`${box.url}/v1/in/prometheus${at}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  };
  const eq = (name: string, value: string, more: object = {}) => ({ name, value, ...more });
  const silence = (matchers: object[], more: object = {}) => ({
    matchers,
    startsAt: time(0),
    endsAt: time(2),
    createdBy: "root",
    comment: "new disks",
    ...more,
  });
  const rings = async () =>
    (await box.api("GET", "/v1/alerts?state=open")).body.alerts
      .filter((one: { silenced_by: string | null }) => one.silenced_by === null)
      .map((one: { labels: { instance: string } }) => one.labels.instance)
      .sort();
  return { box, token, fire, alert, call, eq, silence, time, rings };
}

test("a silence is made, listed, read, moved, replaced and ended as Alertmanager does", async (t) => {
  const { box, fire, alert, call, eq, silence, time, rings } = await story(t);
  await fire(alert("db-01"), alert("db-02"), alert("db-03", "critical"), alert("web-01"));
  const db = eq("instance", "db-.*", { isRegex: true, isEqual: true });
  const made = await call("POST", "/silences", silence([db]));
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { silenceID: id } = made.body;
  assert.deepEqual(await rings(), ["db-03", "web-01"], "a critical one rings");
  const [shown] = (await call("GET", "/silences")).body;
  assert.deepEqual(shown, (await call("GET", `/silence/${id}`)).body);
  const { updatedAt, ...rest } = shown;
  assert.deepEqual(rest, {
    id,
    status: { state: "active" },
    comment: "new disks (root)",
    createdBy: "owner@example.org",
    startsAt: time(0),
    endsAt: time(2),
    matchers: [{ name: "instance", value: "db-.*", isRegex: true, isEqual: true }],
  });
  const held = (await call("GET", "/alerts?filter=instance=db-01")).body;
  assert.deepEqual(held[0].status, { inhibitedBy: [], silencedBy: [id], state: "suppressed" });
  const longer = await call("POST", "/silences", { ...shown, endsAt: time(5) });
  assert.deepEqual(longer, { status: 200, body: { silenceID: id } }, "the same one, longer");
  assert.equal((await call("GET", `/silence/${id}`)).body.endsAt, time(5));
  await box.clock.turn(1000);
  const other = await call("POST", "/silences", { ...shown, matchers: [eq("instance", "db-01")] });
  assert.notEqual(other.body.silenceID, id);
  assert.equal((await call("GET", `/silence/${id}`)).body.status.state, "expired");
  await box.clock.turn(10_000);
  assert.deepEqual(await rings(), ["db-02", "db-03", "web-01"]);
  const found = async (filter: string) =>
    (await call("GET", `/silences?filter=${encodeURIComponent(filter)}`)).body.length;
  assert.deepEqual([await found('instance="db-01"'), await found("instance=web")], [1, 0]);
  assert.equal((await call("GET", "/silences?filter=(")).status, 400);
  assert.equal((await call("DELETE", `/silence/${other.body.silenceID}`)).status, 200);
  await box.clock.turn(10_000);
  assert.deepEqual(await rings(), ["db-01", "db-02", "db-03", "web-01"]);
  assert.equal((await call("DELETE", `/silence/${other.body.silenceID}`)).status, 404);
  assert.equal((await call("DELETE", "/silence/nope")).status, 404);
  assert.equal((await call("PUT", "/silences", {})).status, 405);
  const named = silence([db, eq("severity", "critical")]);
  assert.equal((await call("POST", "/silences", named)).status, 200);
  assert.deepEqual(await rings(), ["db-01", "db-02", "web-01"], "its severity is named");
  const { entries } = (await box.api("GET", "/v1/audit")).body;
  const verbs = entries
    .map((one: { verb: string; via: string }) => `${one.via} ${one.verb}`)
    .filter((one: string) => one.endsWith("Silence"));
  assert.deepEqual(
    [...new Set(verbs)].sort(),
    ["key changeSilence", "key createSilence", "key deleteSilence"],
    JSON.stringify(entries[0]),
  );
});

test("what the box can't say is refused in Alertmanager's form, and nothing is made", async (t) => {
  const { box, call, eq, silence, time } = await story(t);
  const rows: [unknown, RegExp][] = [
    [silence([]), /at least one matcher required/],
    [silence([eq("a", "")]), /must not match the empty string/],
    [
      silence([eq("a", "x|", { isRegex: true }), eq("b", "x")]),
      /no silence of the box can say a=~/,
    ],
    [silence([eq("a", "(", { isRegex: true })]), /a=~"\(": the pattern is no pattern/],
    [silence([eq("a", "x".repeat(300), { isRegex: true })]), /the pattern/],
    [silence([eq("a", "x"), eq("a", "y")]), /nothing can match/],
    [silence([eq("project", "shop")]), /whole project/],
    [silence([eq("project", "sh.*", { isRegex: true }), eq("a", "x")]), /one project, by =/],
    [silence([eq("project", "nope"), eq("a", "x")]), /no such project/],
    [silence([eq("a", "x")], { endsAt: time(-1) }), /can't be in the past/],
    [
      silence([eq("a", "x")], { endsAt: time(1000) }),
      /ends_at must be at most 30 days after starts_at\.$/,
    ],
    [silence([eq("a", "x")], { startsAt: "soon" }), /startsAt must be a time/],
    [silence([{ name: 1, value: "x" }]), /name must be a text/],
    [[], /must be an object/],
  ];
  for (const [body, text] of rows) {
    const { status, body: said } = await call("POST", "/silences", body as object);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(said, text);
  }
  assert.equal(
    (await call("POST", "/silences", silence([eq("a", "x".repeat(70_000))]))).status,
    413,
  );
  const unknown = silence([eq("a", "x")], { id: "nope" });
  assert.equal((await call("POST", "/silences", unknown)).status, 404);
  assert.deepEqual((await call("GET", "/silences")).body, []);
  const ends_at = Math.floor(Date.parse(time(1)) / 1000);
  const own = { project: "shop", match: { rule: "disks" }, ends_at, reason: "by hand" };
  await box.api("POST", "/v1/silences", own);
  const weekly = {
    repeat: "weekly",
    repeat_until: ends_at + 30 * 24 * HOUR,
    labels: [{ key: "a", op: "eq", value: "x" }],
  };
  await box.api("POST", "/v1/silences", { ends_at, reason: "each week", ...weekly });
  for (const one of (await call("GET", "/silences")).body) {
    const changed = { ...one, matchers: [eq("a", "y")] };
    assert.equal((await call("POST", "/silences", changed)).status, 400, one.comment);
  }
});

test("a person's key makes silences, a source's token none; at a source's address they are of its project alone", async (t) => {
  const { box, token, call, eq, silence } = await story(t);
  const at = `/${token}`;
  for (const key of [token, `${box.owner.key}x`]) {
    assert.equal((await call("POST", "/silences", silence([eq("a", "x")]), { key })).status, 401);
    await box.clock.turn(12_000);
  }
  const { key } = box.person("member");
  const made = await call("POST", "/silences", silence([eq("a", "x")]), { key, at });
  assert.equal(made.status, 200, "members silence, as by the box's own route");
  const [{ id, project }] = (await box.api("GET", "/v1/silences")).body.silences;
  assert.deepEqual([id, project], [made.body.silenceID, "shop"]);
  const bank = silence([eq("a", "x"), eq("project", "bank")]);
  assert.match((await call("POST", "/silences", bank, { key, at })).body, /here shop/);
  const everywhere = (await call("POST", "/silences", silence([eq("a", "x")]), { key })).body;
  const banks = (await call("POST", "/silences", bank, { key })).body;
  const seen = (await call("GET", "/silences", undefined, { key, at })).body;
  assert.deepEqual(
    seen.map((one: { id: string }) => one.id).sort(),
    [id, everywhere.silenceID].sort(),
  );
  for (const other of [everywhere, banks])
    assert.equal(
      (await call("DELETE", `/silence/${other.silenceID}`, undefined, { key, at })).status,
      404,
    );
  assert.equal((await call("DELETE", `/silence/${id}`, undefined, { key, at })).status, 200);
});

test("the real amtool makes, lists, updates, imports and expires silences", {
  skip: without("amtool"),
}, async (t) => {
  const { box, fire, alert, rings } = await story(t, handClock(Date.now()));
  await fire(alert("db-01"), alert("db-02"), alert("web-01"));
  const url = new URL(box.url);
  url.username = "ann";
  url.password = box.owner.key;
  const amtool = async (...words: string[]) => {
    const args = [`--alertmanager.url=${url.href}v1/in/prometheus`, ...words];
    return (await promisify(execFile)("amtool", args, { env: { HOME: "/nonexistent" } })).stdout;
  };
  const add = ["silence", "add", "--author=ann", "--comment=disks", "--duration=2h"];
  const id = (
    await amtool(...add, "alertname=DiskFull", "instance=~db-.*", "instance!=db-02")
  ).trim();
  // The machine's clock is amtool's, and ahead.
  await box.clock.turn(60_000);
  assert.deepEqual(await rings(), ["db-02", "web-01"]);
  assert.match(await amtool("silence", "query", "instance=~db-.*"), new RegExp(id));
  const before = await amtool("-o", "json", "silence", "query");
  assert.equal(JSON.parse(before)[0].id, id);
  const updated = await amtool(
    "-o",
    "json",
    "silence",
    "update",
    "--duration=5h",
    "--comment=slow",
    id,
  );
  assert.deepEqual([JSON.parse(updated)[0].id, JSON.parse(updated)[0].comment], [id, "slow"]);
  await amtool("silence", "expire", id);
  await box.clock.turn(10_000);
  assert.deepEqual(await rings(), ["db-01", "db-02", "web-01"]);
  const file = join(scratch(t), "silences.json");
  writeFileSync(file, before);
  await amtool("silence", "import", file);
  assert.deepEqual(await rings(), ["db-02", "web-01"]);
  await assert.rejects(amtool(...add, "project=shop"), /whole project/);
});

test("whatever the matchers, the box's silence takes exactly the alerts that Alertmanager's would", () => {
  const value = fc.constantFrom("", "a", "b", "ab");
  const matcher = fc.record({
    name: fc.constantFrom("x", "y"),
    value: fc.constantFrom("", "a", "b", "a|b", "a.*", ".+", ".*", "[ab]+", "a?", "(a|)"),
    isRegex: fc.boolean(),
    isEqual: fc.boolean(),
  });
  const labels = fc.record({ x: value, y: value });
  let said = 0;
  fc.assert(
    fc.property(
      fc.array(matcher, { minLength: 1, maxLength: 3 }),
      fc.array(labels, { minLength: 4, maxLength: 8 }),
      (matchers, all) => {
        const posted = { id: "", matchers, startsAt: 0, endsAt: 60, comment: "c", createdBy: "" };
        let write: ReturnType<typeof silenceWriteOf>;
        try {
          write = silenceWriteOf(posted, { home: null, now: 0, author: "" });
        } catch (error) {
          assert.ok(error instanceof SilenceFault);
          return;
        }
        said += 1;
        const takes = compileLabels(write.labels);
        for (const given of all) {
          const theirs = matchers.every(({ name, value, isRegex, isEqual }) => {
            const is = given[name as "x"];
            return (isRegex ? new RegExp(`^(?:${value})$`).test(is) : is === value) === isEqual;
          });
          const kept = Object.entries(given).filter(([, one]) => one !== "");
          const of = { labels: Object.fromEntries(kept), varied: {}, varied_more: [] };
          assert.equal(takes?.(of, anyTime) ?? true, theirs, JSON.stringify([matchers, given]));
        }
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(said > 100, `${said} of 500 can be said`);
});
