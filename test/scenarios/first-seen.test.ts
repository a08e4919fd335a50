import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { settle } from "../support/until.ts";

/** A rule that takes only what was never heard of before, as a person sees it. */

let box: TestBox;
before(async () => {
  box = await testBox();
});
after(() => box.stop());

test("a new message opens an alert once its source is learned; page and command say until when, and why it opened", async () => {
  const token = await box.project("shop", { retain_logs: true });
  const rule = { name: "new", match: { first_seen_days: 30 } };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const send = async (message: string) =>
    (await box.ingest(token, { message, level: 400 })).body.alerted as boolean;
  const learning = async () => (await box.api("GET", "/v1/projects/shop/rules/new")).body.learning;
  const page = async () => (await signedIn(box).get("/p/shop/rules/new")).text;
  assert.deepEqual(await learning(), [{ source: "app", until: null }]);
  assert.match(await page(), /app: it sent nothing yet/);
  assert.equal(await send("disk is full"), false);
  const until = Math.floor(box.clock.now() / 1000) + 86_400;
  assert.deepEqual(await learning(), [{ source: "app", until }]);
  assert.match(await page(), /app: learned until /);

  // A day passed. The box reads that anew.
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE sources SET heard_since = heard_since - 86400").run(),
  );
  await box.restart(() => {});
  assert.deepEqual(await learning(), []);
  assert.equal(await send("disk is full"), false, "it is known");
  assert.equal(await send("payment was refused"), true);
  await settle(box);
  const { alerts } = (await box.api("GET", "/v1/alerts")).body;
  assert.equal(alerts.length, 1);
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const why = await run(["why", String(alerts[0].id)], { env });
  assert.match(why.out, /Opened by rule new from app\. Such a message was never heard before\./);
  const tried = (await box.api("POST", "/v1/projects/shop/rules/dry-run", { rule })).body;
  assert.deepEqual([tried.scanned.lines, tried.matched, tried.alert_count], [3, 1, 1]);
});

test("a number of days that no rule takes names its field", async () => {
  await box.project("bad");
  const rule = { name: "bad", match: { first_seen_days: 91 } };
  const { status, body } = await box.api("POST", "/v1/projects/bad/rules", rule);
  assert.deepEqual([status, body.error.details[0].field], [400, "/match/first_seen_days"]);
});
