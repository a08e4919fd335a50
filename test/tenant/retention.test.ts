import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { createRetention, defaultRetention } from "../../src/tenant/retention.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";

const DAY = 86_400_000;
const directory = mkdtempSync(join(tmpdir(), "box-retention-"));
after(() => rmSync(directory, { recursive: true, force: true }));

test("old lines go, new ones stay, and ids are never handed out again", async () => {
  const box = await testBox({ logDays: "0.01" });
  try {
    const token = await box.project("p", { retain_logs: true });
    for (let i = 0; i < 5; i++) await box.ingest(token, { message: `old ${i}` });
    await box.clock.turn(0.006 * DAY);
    await box.ingest(token, { message: "young" });
    await box.clock.turn(0.006 * DAY);
    const tail = async () =>
      (await box.api("GET", "/v1/projects/p/logtail")).body.messages as {
        id: string;
        message: string;
      }[];
    assert.deepEqual(
      (await tail()).map(({ message }) => message),
      ["young"],
    );
    const last = Number((await tail())[0]?.id);
    await box.clock.turn(0.012 * DAY);
    assert.deepEqual(await tail(), []);
    await box.restart();
    await box.ingest(token, { message: "after" });
    assert.ok(Number((await tail())[0]?.id) > last);
  } finally {
    await box.stop();
  }
});

test("a resolved alert goes after its days with all it had; an open one stays for ever", async () => {
  const box = await testBox({ historyDays: "0.01" });
  try {
    const token = await box.project("p");
    await box.api("POST", "/v1/projects/p/rules", { name: "each", identifier_keys: ["n"] });
    await box.ingest(token, { message: "x", keys: { n: "resolved" } });
    await box.ingest(token, { message: "x", keys: { n: "open" } });
    await box.api("POST", "/v1/alerts/1/resolve");
    await box.clock.turn(0.014 * DAY);
    assert.equal((await box.api("GET", "/v1/alerts/1")).status, 404);
    assert.equal((await box.api("GET", "/v1/alerts/2")).body.state, "open");
    const again = await box.ingest(token, { message: "x", keys: { n: "open" } });
    assert.equal(again.body.alerted, true);
    assert.equal((await box.api("GET", "/v1/alerts/2")).body.count, 2);
    const events = box.tenant.store.sql("SELECT DISTINCT alert_id FROM events").pluck().all();
    assert.deepEqual(events, [2]);
  } finally {
    await box.stop();
  }
});

test("many old lines go in slices", () => {
  const clock = handClock();
  const store = openStore({
    path: join(directory, "box.db"),
    kind: "box",
    clock,
    random: systemRandom,
  });
  const at = Math.floor(clock.now() / 1000) - 30 * 86_400;
  store.write((tx) => {
    tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
      SELECT i, 1, 1, ${at}, 200, 't', 'a message of usual length that says what happened ' || i FROM n`);
  });
  const retention = createRetention(store, {
    logDays: 7,
    logBytes: 2 ** 31,
    historyDays: 90,
    numbersDays: 800,
  });
  let slices = 0;
  while (retention.slice()) slices++;
  assert.equal(store.sql("SELECT count(*) FROM log_lines").pluck().get(), 0);
  assert.ok(slices > 4, `${slices} slices`);
  assert.equal(
    retention.slice(),
    false,
    "nothing is left: all kinds are looked at in one transaction",
  );
  store.close();
});

test("all events are read four times a day, not each time: a box may have ten million", async () => {
  const clock = handClock();
  const path = join(directory, "events.db");
  const store = openStore({ path, kind: "box", clock, random: systemRandom });
  const retention = createRetention(store, defaultRetention);
  const old = Math.floor(clock.now() / 1000) - 100 * 86_400;
  // Of a test delivery: it never had an alert.
  const left = () => {
    while (retention.slice());
    return store.sql("SELECT count(*) FROM events").pluck().get();
  };
  const add = () =>
    store.write((tx) =>
      tx
        .sql<[number]>(
          "INSERT INTO events (event_id, event, timestamp, body) VALUES ('e', 'alert.test', ?, '{}')",
        )
        .run(old),
    );
  assert.equal(left(), 0);
  add();
  await clock.turn(3_600_000);
  assert.equal(left(), 1);
  await clock.turn(6 * 3_600_000);
  assert.equal(left(), 0);
  add();
  clock.setWall(clock.now() - 86_400_000);
  await clock.turn(6 * 3_600_000);
  assert.equal(left(), 0, "a clock that was set back doesn't hold it up");
  store.close();
});
