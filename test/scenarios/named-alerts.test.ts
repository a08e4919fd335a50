import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

/** Alerts whose sender names them: firing, repeating, ending (additions A1). */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p", { retain_logs: true });
});
afterEach(() => box.stop());

const rule = (more: object = {}) =>
  box.api("POST", "/v1/projects/p/rules", { name: "errors", match: { min_level: 400 }, ...more });

const send = async (more: object = {}) => {
  const event = { message: "disk of db-01 is 96 % full", level: 500, dedup_key: "disk", ...more };
  const answer = await box.ingest(token, event);
  assert.equal(answer.status, 202);
  return answer.body;
};

const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;
const timeline = async (id: string) =>
  (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline as {
    kind: string;
    account_id: string | null;
    detail: Record<string, unknown>;
  }[];
const minutes = (n: number) => box.clock.turn(n * 60_000);
const now = () => Math.floor(box.clock.now() / 1000);

describe("an alert that its sender names", () => {
  test("is one alert whatever the messages say, and ends with its sender's word", async () => {
    await rule();
    assert.equal((await send()).alerted, true);
    await send({ message: "db-01: only 12 MB left!", level: 400 });
    const [alert, ...others] = await alerts();
    assert.deepEqual([others.length, alert.count, alert.level], [0, 2, 500]);
    assert.deepEqual([alert.dedup_key, alert.instance], ["disk", null]);
    const answer = await send({ message: "disk is fine", level: 200, status: "resolved" });
    assert.deepEqual([answer.alerted, answer.resolved], [false, 1]);
    const [ended] = await alerts();
    assert.equal(ended.state, "resolved");
    assert.deepEqual((await timeline(ended.id)).at(-1)?.detail, {
      by: "source",
      source: "app",
      count: 2,
    });
    await send();
    assert.equal((await alerts()).length, 2, "what fires again is a new alert");
  });

  test("is acknowledged by its sender's word, which nobody else can be taken for", async () => {
    await rule();
    await send();
    await send({ status: "acknowledged" });
    const [alert] = await alerts();
    assert.equal(alert.state, "acknowledged");
    const entry = (await timeline(alert.id)).find(({ kind }) => kind === "acknowledged");
    assert.deepEqual([entry?.account_id, entry?.detail], [null, { by: "source", source: "app" }]);
  });

  test("an end of what isn't known opens nothing and is counted", async () => {
    await rule();
    assert.deepEqual((await send({ status: "resolved" })).resolved, 0);
    assert.equal((await alerts()).length, 0);
    const [tally] = box.tenant.ingest.tallies();
    assert.equal(tally?.unmatchedResolves, 1);
    const lines = (await box.api("GET", "/v1/projects/p/logtail")).body.messages;
    assert.equal(lines.length, 1, "it is kept as a line");
  });

  test("the same firing reported again changes nothing that anybody is told", async () => {
    await rule();
    await send({ instance: "100" });
    const before = await box.api("GET", "/v1/pull");
    await minutes(1);
    await send({ instance: "100", message: "disk of db-01 is 97 % full" });
    const [alert] = await alerts();
    assert.equal(alert.count, 1);
    assert.equal(alert.last_seen, now());
    assert.equal(alert.last_message, "disk of db-01 is 97 % full");
    assert.deepEqual((await box.api("GET", "/v1/pull")).body.cursor, before.body.cursor);
    const lines = (await box.api("GET", "/v1/projects/p/logtail")).body.messages;
    assert.equal(lines.length, 1, "and makes no line");
    await send({ instance: "200" });
    assert.equal((await alerts())[0].count, 2, "another firing counts");
  });

  test("is written once a minute, however often it is reported", async () => {
    await rule();
    await send({ instance: "1" });
    const { store } = box.tenant;
    const rows = () => store.sql("SELECT total_changes()").pluck().get() as number;
    const before = rows();
    for (let i = 0; i < 50; i += 1) await send({ instance: "1" });
    assert.equal(rows(), before, "within the minute nothing is written");
    await minutes(1);
    await send({ instance: "1" });
    assert.ok(rows() > before);
  });

  test("is written at the first report after a start: its latest may be older than the clock says", async () => {
    await rule();
    await send({ instance: "1" });
    await minutes(2);
    box.clock.setWall(box.clock.now() - 90_000);
    await minutes(0.1);
    await box.restart(() => {});
    await send({ instance: "1" });
    const seen = box.tenant.store.sql("SELECT last_seen FROM alerts").pluck();
    assert.equal(seen.get(), now());
  });

  test("is written at the first report after a start, also where another alert was reported before it", async () => {
    await rule();
    await send({ dedup_key: "other", instance: "1" });
    await send({ instance: "1" });
    await minutes(0.5);
    box.clock.setWall(box.clock.now() - 90_000);
    await minutes(0.1);
    await box.restart(() => {});
    await send({ dedup_key: "other", instance: "1" });
    await minutes(1.2);
    await send({ instance: "1" });
    const seen = box.tenant.store.sql("SELECT last_seen FROM alerts WHERE dedup_key = 'disk'");
    assert.equal(seen.pluck().get(), now());
  });

  test("ends by itself when its sender's promise runs out, and not while that is renewed", async () => {
    await rule();
    for (let i = 0; i < 10; i += 1) {
      await send({ instance: "1", expires_at: now() + 240 });
      await minutes(1);
    }
    assert.equal((await alerts())[0].state, "open");
    await minutes(4);
    const [alert] = await alerts();
    assert.equal(alert.state, "resolved");
    assert.deepEqual((await timeline(alert.id)).at(-1)?.detail, { reason: "stale", count: 1 });
  });

  test("a promise in the past says that a clock is wrong, and ends nothing", async () => {
    await rule();
    await send({ instance: "1", expires_at: now() - 60 });
    await minutes(10);
    assert.equal((await alerts())[0].state, "open");
  });

  test("the box's own down time runs no promise out", async () => {
    await rule();
    await send({ instance: "1", expires_at: now() + 240 });
    await box.restart(() => box.clock.setWall(box.clock.now() + 600_000));
    await minutes(3);
    assert.equal((await alerts())[0].state, "open");
    await send({ instance: "1", expires_at: now() + 240 });
    await minutes(3);
    assert.equal((await alerts())[0].state, "open");
    await minutes(2);
    assert.equal((await alerts())[0].state, "resolved");
  });

  test("resolved here while it still fires there: silent for an hour, then said so", async () => {
    await rule();
    await send({ instance: "1" });
    const [first] = await alerts();
    await box.api("POST", `/v1/alerts/${first.id}/resolve`);
    await minutes(59);
    assert.equal((await send({ instance: "1" })).alerted, false);
    assert.equal((await alerts()).length, 1);
    await minutes(2);
    assert.equal((await send({ instance: "1" })).alerted, true);
    const [second] = await alerts();
    const opened = (await timeline(second.id)).find(({ kind }) => kind === "opened");
    assert.equal(opened?.detail["resolved_here_still_firing_there"], first.id);
    await box.api("POST", `/v1/alerts/${second.id}/resolve`);
    await send({ instance: "2" });
    assert.equal((await alerts()).length, 3, "another firing opens at once");
  });

  test("resolved here and worse than it was opens at once", async () => {
    await rule();
    await send({ instance: "1", level: 400 });
    const [first] = await alerts();
    await box.api("POST", `/v1/alerts/${first.id}/resolve`);
    assert.equal((await send({ instance: "1", level: 400 })).alerted, false);
    assert.equal((await send({ instance: "1", level: 500 })).alerted, true);
    assert.equal((await alerts()).length, 2);
  });

  test("a late word about an earlier firing ends nothing", async () => {
    await rule();
    await send({ instance: "200" });
    assert.equal((await send({ status: "resolved", instance: "100" })).resolved, 0);
    assert.equal((await alerts())[0].state, "open");
    assert.equal((await send({ status: "resolved", instance: "200" })).resolved, 1);
  });

  test("until an alert is open every report counts towards it, and an end empties the count", async () => {
    await rule({ fire_after: { count: 3, window_minutes: 5 } });
    await send({ instance: "1" });
    await send({ instance: "1" });
    await send({ instance: "1", status: "resolved" });
    await send({ instance: "1" });
    await send({ instance: "1" });
    assert.equal((await alerts()).length, 0);
    await send({ instance: "1" });
    assert.equal((await alerts())[0].count, 3);
  });

  test("an end empties the counts of all that goes by its name, also where it has no identifiers", async () => {
    await rule({ identifier_keys: ["host"], fire_after: { count: 2, window_minutes: 30 } });
    const host = (name: string) => ({ keys: { host: name } });
    const others = { dedup_key: "disk2", ...host("a") };
    await send(host("a"));
    await send(host("b"));
    await send(others);
    await send({ status: "resolved", message: "over" });
    await send(host("a"));
    await send({ status: "resolved", keys: { host: "elsewhere" } });
    await send(host("a"));
    await send(host("b"));
    assert.equal((await alerts()).length, 0, "each was counted once since the end");
    await send(others);
    assert.equal((await alerts()).length, 1, "the end was not for other names");
    await send(host("b"));
    const [alert] = await alerts();
    assert.deepEqual([alert.identifiers, alert.count], [{ host: "b" }, 2]);
  });

  test("a rule may keep its alerts until a person ends them", async () => {
    await rule({ ends_with_source: false });
    await send();
    assert.equal((await send({ status: "resolved" })).resolved, 0);
    const [alert] = await alerts();
    assert.equal(alert.state, "open");
    assert.equal((await timeline(alert.id)).at(-1)?.kind, "source_resolved");
  });

  test("what fires again shortly after its end is the same alert, where the rule says so", async () => {
    await rule({ reopen_within_seconds: 300 });
    await send();
    await send({ status: "resolved" });
    await minutes(4);
    await send({ message: "again" });
    const [alert, ...others] = await alerts();
    assert.deepEqual([others.length, alert.state, alert.count], [0, "open", 2]);
    assert.equal(
      (await timeline(alert.id)).some(({ kind }) => kind === "reopened"),
      true,
    );
    await send({ status: "resolved" });
    await minutes(6);
    await send();
    assert.equal((await alerts()).length, 2, "later it is a new one");
    const [newest] = await alerts();
    await box.api("POST", `/v1/alerts/${newest.id}/resolve`);
    await send();
    assert.equal((await alerts()).length, 3, "what a person ended stays so");
  });

  test("what one batch fires, ends and fires is taken in its order", async () => {
    await rule();
    const lines = [{}, { status: "resolved" }, { message: "second" }]
      .map((more) => ({ message: "first", level: 500, dedup_key: "k", ...more }))
      .map((line) => JSON.stringify(line));
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    assert.equal(answer.status, 202);
    assert.deepEqual(
      (await alerts()).map(({ state, last_message }: { state: string; last_message: string }) => [
        state,
        last_message,
      ]),
      [
        ["open", "second"],
        ["resolved", "first"],
      ],
    );
  });

  test("names hold in the project, or among one source's own where it says so", async () => {
    await rule();
    const other = async (name: string, room: string) =>
      (await box.api("POST", "/v1/projects/p/sources", { name, room })).body.token as string;
    const shared = await other("shared", "project");
    const own = await other("own", "source");
    const from = (source: string, more: object = {}) =>
      box.ingest(source, { message: "x", level: 500, dedup_key: "k", ...more });
    await from(token);
    await from(own);
    assert.equal((await alerts()).length, 2);
    assert.equal((await from(shared, { status: "resolved" })).body.resolved, 1);
    assert.equal((await from(own, { status: "resolved" })).body.resolved, 1);
  });

  test("what is sent beside the message is kept, and what is no such thing is left alone", async () => {
    await rule();
    await send({
      details: "Writes stop at 100 %.",
      links: [{ href: "https://example.org/run", text: "Runbook" }, { href: "javascript:x" }],
      images: [{ src: "https://example.org/a.png" }],
      occurred_at: 1_700_000_000,
    });
    const [alert] = await alerts();
    assert.equal(alert.details, "Writes stop at 100 %.");
    assert.deepEqual(alert.links, [{ href: "https://example.org/run", text: "Runbook" }]);
    assert.deepEqual(alert.images, [{ src: "https://example.org/a.png" }]);
    assert.equal(alert.occurred_at, 1_700_000_000);
    await send({ dedup_key: "other", details: { odd: 1 }, links: "none", occurred_at: "now" });
    assert.equal((await alerts())[0].details, null);
  });

  test("a bad status or name is refused by its field", async () => {
    const bad = await box.ingest(token, { message: "x", status: "gone", dedup_key: "" });
    assert.equal(bad.status, 400);
    assert.deepEqual(bad.body.error.details.map(({ field }: { field: string }) => field).sort(), [
      "/dedup_key",
      "/status",
    ]);
  });
});
