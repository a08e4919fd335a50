import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { pass, settle } from "../support/until.ts";

/** Rules that take only what was never heard of before, or more than usual, as a person sees them. */

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
  assert.match(
    await page(),
    /learned, and nothing of it is new to this rule: app \(it sent nothing yet\)\./,
  );
  assert.equal(await send("disk is full"), false);
  const until = Math.floor(box.clock.now() / 1000) + 86_400;
  assert.deepEqual(await learning(), [{ source: "app", until }]);
  assert.match(await page(), /new to this rule: app until [^<]+\.</);
  const list = (await signedIn(box).get("/p/shop/rules")).text;
  assert.match(list, /What a source says in its first 24 hours is learned.*app until /);
  const shown = await run(["rule", "show", "shop", "new"], {
    env: { BOX_URL: box.url, BOX_KEY: box.owner.key },
  });
  assert.equal(JSON.parse(shown.out).name, "new");
  assert.match(shown.err, /first 24 hours is learned.*app until 2/);
  const dry = (await box.api("POST", "/v1/projects/shop/rules/dry-run", { rule })).body;
  assert.match(
    dry.warnings.find(({ code }: { code: string }) => code === "learns").detail,
    /app until .* UTC\./,
  );

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
  assert.match(why.out, /Opened by rule new from app\. Such a message never came before\./);
  const tried = (await box.api("POST", "/v1/projects/shop/rules/dry-run", { rule })).body;
  assert.deepEqual([tried.scanned.lines, tried.matched, tried.alert_count], [3, 1, 1]);
});

test("once there are two weeks, more than usual opens an alert; page and command say from when on, and why it opened", async () => {
  const token = await box.project("more", { retain_logs: true });
  const match = { unusual: { factor: 3, at_least: 2 } };
  const at = "/v1/projects/more/rules";
  assert.equal((await box.api("POST", at, { name: "more", match })).status, 201);
  const send = async () =>
    (await box.ingest(token, { message: "payment was refused" })).body.alerted as boolean;
  const rule = async () => (await box.api("GET", `${at}/more`)).body;
  const page = async () => (await signedIn(box).get("/p/more/rules/more")).text;
  assert.equal((await rule()).compares_from, null);
  assert.match(await page(), /learned for two weeks, which begin with the first event: until then/);
  assert.equal(await send(), false);
  assert.equal(await send(), false);
  assert.ok((await rule()).compares_from > Math.floor(box.clock.now() / 1000) + 14 * 86_400);
  assert.match(await page(), /opens nothing before/);
  const tried = await box.api("POST", `${at}/dry-run`, { rule: { name: "more", match } });
  assert.deepEqual(tried.body.warnings[0].code, "learns");

  // Three weeks passed. The box reads that anew.
  box.tenant.store.write((tx) => {
    tx.sql("UPDATE count_series SET since = since - 1814400").run();
    tx.sql("UPDATE hour_counts SET day = day - 21").run();
  });
  await box.restart(() => {});
  assert.equal(await send(), false);
  assert.equal(await send(), true);
  await settle(box);
  const { alerts } = (await box.api("GET", "/v1/alerts?project=more")).body;
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const why = await run(["why", String(alerts[0].id)], { env });
  assert.match(why.out, /2 events came in its window, usually 0 do/, why.err);
});

test("what came for two weeks and no longer comes opens an alert, and ends it when it comes; page and command say so", async () => {
  const token = await box.project("gone", { retain_logs: true });
  const at = "/v1/projects/gone/rules";
  const rule = { name: "gone", missing: true };
  assert.equal((await box.api("POST", at, rule)).status, 201);
  const page = async () => (await signedIn(box).get("/p/gone/rules/gone")).text;
  assert.match(await page(), /learned for two weeks, which begin with the first event: until then/);
  const { template_id } = (await box.ingest(token, { message: "backup has ended" })).body;
  assert.match(await page(), /opens nothing before/);
  const { store } = box.tenant;
  const now = () => Math.floor(box.clock.now() / 1000);
  // It came for two weeks, every quarter of an hour, and last more than an hour ago.
  const last = now() - 3700;
  store.write((tx) => {
    const day = Math.floor(last / 86_400);
    tx.sql("DELETE FROM hour_counts WHERE key = ?").run(template_id);
    for (let back = 0; back < 14; back++)
      tx.sql(
        `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap)
          SELECT id, ?, ?, 96, '[${new Array(24).fill(4)}]', ?, 900 FROM count_series
          WHERE project_id = (SELECT id FROM projects WHERE name = 'gone')`,
      ).run(day - back, template_id, last - back * 86_400);
  });
  await box.restart(() => {});
  const open = async () => (await box.api("GET", "/v1/alerts?project=gone&state=open")).body.alerts;
  await pass(box, 1, 0.05);
  const [alert] = await open();
  assert.deepEqual(
    [alert.last_message, alert.level, alert.first_seen, alert.template_id],
    ["Missing: backup has ended", 400, last, template_id],
  );
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const why = await run(["why", String(alert.id)], { env });
  assert.match(why.out, /Nothing of it came since .*longest pause was 15 min/, why.err);
  const tried = (await box.api("POST", `${at}/dry-run`, { rule })).body;
  assert.equal(tried.alert_count, 1);

  await box.ingest(token, { message: "backup has ended" });
  await settle(box);
  assert.deepEqual(await open(), []);
  const ended = await run(["why", String(alert.id)], { env });
  assert.match(ended.out, /Resolved by itself: it comes again/, ended.err);
});

test("what can't stand beside missing is named", async () => {
  await box.project("beside");
  const rule = {
    name: "bad",
    missing: { source: "app" },
    match: { first_seen_days: 3, sources: ["web"] },
    for_minutes: 5,
  };
  const { status, body } = await box.api("POST", "/v1/projects/beside/rules", rule);
  const fields = body.error.details.map(({ field }: { field: string }) => field);
  assert.deepEqual(
    [status, fields],
    [400, ["/match/first_seen_days", "/match/sources", "/for_minutes"]],
  );
});

test("a factor that no rule takes names its field", async () => {
  await box.project("worse");
  const rule = { name: "bad", match: { unusual: { factor: 1 } } };
  const { status, body } = await box.api("POST", "/v1/projects/worse/rules", rule);
  assert.deepEqual([status, body.error.details[0].field], [400, "/match/unusual/factor"]);
});

test("a number of days that no rule takes names its field", async () => {
  await box.project("bad");
  const rule = { name: "bad", match: { first_seen_days: 91 } };
  const { status, body } = await box.api("POST", "/v1/projects/bad/rules", rule);
  assert.deepEqual([status, body.error.details[0].field], [400, "/match/first_seen_days"]);
});
