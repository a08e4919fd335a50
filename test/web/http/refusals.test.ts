import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import pino from "pino";
import { createRefusedBook } from "../../../src/in/ingest/refused.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";

let box: TestBox;
let token: string;
const logged: string[] = [];
before(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  box = await testBox({}, handClock(), pino({ level: "warn" }, sink));
  token = await box.project("shop");
});
after(() => box.stop());

/** The metrics' lines of this name, `{labels} value`. */
async function metric(name: string): Promise<string[]> {
  const { body } = await box.api("GET", "/metrics");
  return (body as string)
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => line.slice(name.length));
}

const facts = async (key = box.owner.key) =>
  (await box.api("GET", "/v1/projects/shop/sources/app/facts", undefined, key)).body;

test("events that are refused are counted for their source, with the latest body for managers", async () => {
  const none = { accepted: 0, unmatched: 0, unmatched_resolves: 0, clock_suspects: 0, refused: {} };
  const never = { last_seen: null, last_refused: null };
  assert.deepEqual(await facts(), { name: "app", ...none, ...never });
  await box.ingest(token, { message: "fine" });
  await box.ingest(token, "{not json");
  const long = `{"level":"${"x".repeat(2000)}"}`;
  assert.equal((await box.ingest(token, long)).status, 400);
  const now = Math.floor(box.clock.now() / 1000);
  const { last_refused: last, ...counted } = await facts();
  assert.deepEqual(counted, {
    name: "app",
    accepted: 1,
    unmatched: 1,
    unmatched_resolves: 0,
    clock_suspects: 0,
    last_seen: now,
    refused: { invalid_json: 1, invalid_request: 1 },
  });
  assert.deepEqual([last.at, last.code, last.body], [now, "invalid_request", long.slice(0, 1024)]);
  assert.match(last.message, /message/);
  const member = await facts(box.person("member").key);
  assert.deepEqual([member.last_refused.body, member.refused], [null, counted.refused]);
  assert.deepEqual((await metric("box_ingest_refused_total")).toSorted(), [
    '{project="shop",source="app",code="invalid_json"} 1',
    '{project="shop",source="app",code="invalid_request"} 1',
  ]);
  await box.clock.turn(3_599_000);
  assert.equal((await facts()).last_refused?.code, "invalid_request");
  await box.clock.turn(2_000);
  assert.equal((await facts()).last_refused, null, "kept for an hour");
});

test("lines of NDJSON are counted one by one, and what was not read has no body", async () => {
  const before = (await facts()).refused;
  const lines = ['{"message":"a"}', "nonsense", '{"level":1}', '{"message":"b"}'].join("\n");
  const send = (body: string) =>
    fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
  assert.equal((await send(lines)).status, 202);
  const { refused, last_refused } = await facts();
  assert.equal(refused.invalid_json - before.invalid_json, 1);
  assert.equal(refused.invalid_request - before.invalid_request, 1);
  assert.equal(last_refused.body, '{"level":1}');
  assert.equal((await send(" ".repeat(5 * 1024 * 1024))).status, 413);
  const after = await facts();
  assert.deepEqual([after.refused.body_too_large, after.last_refused.body], [1, ""]);
});

test("failed authentication is counted by plane and by what came, and no token is anywhere", async () => {
  const secret = "canary0canary0canary0canary0canary0canary0c";
  const unknown = `ptk_${box.tenant.id}_${secret}`;
  for (const key of [null, unknown, unknown, token, "nothing of ours"])
    assert.equal((await box.api("GET", "/v1/projects", undefined, key)).status, 401);
  await box.ingest(box.owner.key, { message: "x" });
  await box.ingest(`pti_${box.tenant.id}_${secret}`, { message: "x" });
  const pair = { code: "ab".repeat(24), email: "a@example.org", password: "long enough" };
  assert.equal((await box.api("POST", "/v1/pair", pair, null)).status, 401);
  assert.deepEqual((await metric("box_auth_failures_total")).toSorted(), [
    '{plane="api",offered="api key"} 2',
    '{plane="api",offered="ingest token"} 1',
    '{plane="api",offered="nothing"} 1',
    '{plane="api",offered="other"} 1',
    '{plane="ingest",offered="api key"} 1',
    '{plane="ingest",offered="ingest token"} 1',
    '{plane="pairing",offered="nothing"} 1',
  ]);
  const { body } = await box.api("GET", "/metrics");
  assert.ok(!`${body}${logged.join("")}`.includes(secret));
});

test("refused requests are counted by the noun of their route and by code, whatever their path", async () => {
  const asked: [string, string, unknown?][] = [
    ["GET", "/v1/projects/none/rules"],
    ["POST", "/v1/projects/shop/rules", { name: 5 }],
    ["GET", "/v1/alerts/999"],
    ["PATCH", "/v1/projects/shop/sources"],
    ["GET", "/v1/canary-path"],
    ["GET", "/canary/path"],
    ["GET", "/v1/projects/%E0%A4%A/sources"],
    ["GET", "/public/reports/none"],
    ["POST", "/pair", "code=x"],
  ];
  for (const [method, path, body] of asked)
    assert.ok((await box.api(method, path, body)).status >= 400, path);
  const lines = await metric("box_requests_refused_total");
  for (const [noun, code] of [
    ["rules", "not_found"],
    ["rules", "invalid_request"],
    ["alerts", "not_found"],
    ["sources", "method_not_allowed"],
    ["sources", "invalid_request"],
    ["public", "404"],
    ["pair", "invalid_request"],
    ["none", "not_found"],
    ["ingest", "invalid_json"],
  ])
    assert.ok(
      lines.some((line) => line.startsWith(`{class="${noun}",code="${code}"} `)),
      `${noun} ${code} in ${lines.join("\n")}`,
    );
  assert.ok(!lines.join("").includes("canary"));
});

test("the log says it at once, and then in one line a minute at most, with counts", async () => {
  await box.clock.turn(60_000);
  logged.length = 0;
  for (let n = 0; n < 5; n++) await box.ingest(token, "{not json");
  const said = () => logged.map((line) => JSON.parse(line));
  assert.equal(said().length, 1);
  const what = { class: "ingest", code: "invalid_json", tenant: box.tenant.id };
  const from = { project: 1, source: "app" };
  assert.ok(
    said()[0].refused.some(
      (one: object) => JSON.stringify(one) === JSON.stringify({ ...what, ...from, n: 1 }),
    ),
    logged.join("\n"),
  );
  await box.clock.turn(60_000);
  await box.ingest(token, "{not json");
  assert.deepEqual(said()[1].refused, [{ ...what, ...from, n: 5 }]);
  await box.clock.turn(60_000);
  await box.api("GET", "/v1/alerts/999");
  assert.equal(logged.length, 2, "what is everyday is counted only");
});

test("readiness and doctor say that events are turned away, with names for whoever shows a key", async () => {
  const detail = async (key: string | null) => {
    const { body } = await box.api("GET", "/readyz", undefined, key);
    return body.checks.find(({ name }: { name: string }) => name === "ingest").detail as string;
  };
  assert.match(await detail(null), /events of one source were rejected$/);
  assert.match(await detail(box.owner.key), /rejected of app of shop \(\d+ invalid_json/);
});

test("a kept body is no window on the megabytes that it was cut from, and sources are bounded", () => {
  const clock = handClock();
  const book = createRefusedBook(clock);
  for (let id = 1; id <= 1100; id++)
    book.note(
      {
        id,
        projectId: 1,
        name: `s${id}`,
        retainLogs: false,
        kind: "events",
        room: "project",
        options: {},
        sealedSecret: null,
      },
      { code: "invalid_json", message: "no", body: "😀".repeat(2000) },
    );
  assert.equal(book.of(1).last, null, "the longest silent made room");
  assert.equal(book.of(1).counts["invalid_json"], 1, "its count stays");
  assert.equal(book.of(1100).last?.body, "😀".repeat(1024));
  book.prune((id) => id === 1100);
  assert.deepEqual(book.all().length, 1);
});
