import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

/** A sender that reports again in time keeps its alert, whatever clocks and restarts do (contract §22, 5 and 6). */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "errors" });
});
afterEach(() => box.stop());

const now = () => Math.floor(box.clock.now() / 1000);
const turn = (seconds: number) => box.clock.turn(seconds * 1000);
const setClock = async (by: number) => {
  box.clock.setWall(box.clock.now() + by * 1000);
  await turn(2);
};
const word = (lasts: number, more: object = {}) => ({
  message: "full",
  dedup_key: "disk",
  instance: "1",
  expires_at: now() + lasts,
  ...more,
});
const report = async (lasts: number) => (await box.ingest(token, word(lasts))).body;
/** Sends events in one request while no alert can be written. */
const refused = async (...events: object[]) => {
  const { db } = box.tenant.store;
  db.exec(
    "CREATE TRIGGER refuse BEFORE UPDATE ON alerts BEGIN SELECT RAISE(ABORT, 'not now'); END",
  );
  const answer = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: events.map((event) => JSON.stringify(event)).join("\n"),
  });
  assert.equal(answer.status, 500);
  db.exec("DROP TRIGGER refuse");
};
const states = async () =>
  (await box.api("GET", "/v1/alerts")).body.alerts.map(({ state }: { state: string }) => state);

describe("a sender's promise", () => {
  test("counts from its latest report, written or not", async () => {
    await report(130);
    await turn(59);
    await report(130);
    await turn(125);
    assert.deepEqual(await states(), ["open"], "it has 5 s left to report again");
    await turn(10);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("counts from its latest report where a later word could not be written", async () => {
    await report(130);
    await turn(59);
    await report(130);
    await refused(word(130, { level: 500 }));
    await turn(125);
    assert.deepEqual(await states(), ["open"], "it has 5 s left to report again");
    await turn(10);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("is not renewed by a report that was refused with its request", async () => {
    await box.ingest(token, { message: "slow" });
    await report(130);
    await turn(59);
    await refused({ message: "slow" }, word(130));
    await turn(75);
    assert.deepEqual(await states(), ["resolved", "open"]);
  });

  test("that is shorter than the one before ends when it says", async () => {
    await report(3600);
    await report(3600);
    await report(130);
    await turn(135);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("counts from its latest report where somebody acknowledged in between", async () => {
    await report(130);
    await turn(50);
    await report(130);
    await box.api("POST", "/v1/alerts/1/ack");
    await turn(100);
    assert.deepEqual(await states(), ["acknowledged"]);
  });

  test("that was renewed is kept when the clock is set back", async () => {
    await report(150);
    await turn(61);
    await report(150);
    await setClock(-100);
    await turn(118);
    await report(150);
    await turn(100);
    assert.deepEqual(await states(), ["open"]);
    await turn(60);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("runs whole after a start, though the clock was set back since the latest report", async () => {
    await report(240);
    await setClock(-86_400);
    await box.restart(() => box.clock.setWall(box.clock.now() + 60_000));
    await turn(200);
    assert.deepEqual(await states(), ["open"]);
    await turn(60);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("runs whole and no longer after a start, though the clock was set forward", async () => {
    await report(240);
    await setClock(86_400);
    await box.restart(() => box.clock.setWall(box.clock.now() + 60_000));
    await turn(230);
    assert.deepEqual(await states(), ["open"]);
    await turn(20);
    assert.deepEqual(await states(), ["resolved"]);
  });

  test("runs whole after a start with an old clock", async () => {
    await report(240);
    await turn(200);
    await box.restart(() => box.clock.setWall(box.clock.now() - 86_400_000));
    await turn(200);
    assert.deepEqual(await states(), ["open"]);
  });

  test("that was renewed outlives an orderly stop", async () => {
    await report(100);
    await turn(30);
    await report(1000);
    await box.restart();
    await turn(900);
    assert.deepEqual(await states(), ["open"]);
  });

  test("from before an end is forgotten when the alert is opened again", async () => {
    const rule = { name: "errors", reopen_within_seconds: 600 };
    await box.api("PUT", "/v1/projects/p/rules/errors", rule);
    await report(100);
    await turn(10);
    await report(130);
    await turn(140);
    assert.deepEqual(await states(), ["resolved"]);
    await report(5000);
    await box.restart();
    await turn(4000);
    assert.deepEqual(await states(), ["open"]);
  });

  test("that goes on after it was resolved here is not kept silent for as long as the clock was set back", async () => {
    await report(7200);
    await box.api("POST", "/v1/alerts/1/resolve");
    await setClock(-86_400);
    await turn(3700);
    assert.equal((await report(7200)).alerted, true);
  });
});
