import assert from "node:assert/strict";
import { test } from "node:test";
import { dryRunWrite } from "../../src/ingest/dry-run/dry-run.ts";
import { runDry } from "../../src/ingest/dry-run/run.ts";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { opensTheSame } from "./dry-run-property.ts";

/** What a rule would have opened on kept lines. */

test("a dry run opens what a box opens that is fed the same events", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await opensTheSame(box, 60);
});

test("retention that takes lines under a dry run costs it those lines alone, and is said", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("p", { retain_logs: true });
  for (let from = 0; from < 4000; from += 1000) {
    const lines = Array.from({ length: 1000 }, (_, i) =>
      JSON.stringify({ message: "disk is full", keys: { n: String(from + i) } }),
    );
    const { status } = await fetch(`${box.url}/v1/ingest`, {
      ...{ method: "POST", body: lines.join("\n") },
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
    assert.equal(status, 202);
    await box.clock.turn(60_000);
  }
  const { store } = box.tenant;
  const asked = dryRunWrite.parse({ rule: { name: "r", identifier_keys: ["n"], max_open: 0 } });
  const order = { projectId: 1, input: asked, now: Math.floor(box.clock.now() / 1000) };
  const run = (mono: () => number) =>
    runDry(store, { mono }, { ...order, budgetMs: Number.MAX_SAFE_INTEGER });
  const cut = (below: number) =>
    store.write((tx) => {
      tx.sql<[number]>("DELETE FROM log_lines WHERE id < ?").run(below);
      tx.sql<[number]>("DELETE FROM log_blocks WHERE block * 1024 + 1024 <= ?").run(below);
    });
  assert.deepEqual([run(() => 0).alert_count, run(() => 0).range.complete], [4000, true]);
  // It asks for the time once before the first block and once after each.
  let asks = 0;
  const cutUnder = run(() => {
    asks += 1;
    if (asks === 2) cut(3000);
    return 0;
  });
  assert.equal(cutUnder.scanned.lines, 1023 + 1001);
  assert.equal(cutUnder.alert_count, 1023 + 1001);
  assert.deepEqual([cutUnder.range.complete, cutUnder.range.why], [false, "retention"]);
  asks = 0;
  const gone = run(() => {
    asks += 1;
    if (asks === 2) cut(5000);
    return 0;
  });
  assert.deepEqual([gone.range.why, gone.scanned.lines], ["retention", 72]);
});

test("what isn't kept any more is said, while lines go; another run at once is refused; nothing is written", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("p", { retain_logs: true });
  const rule = { name: "r", fire_after: { count: 3 } };
  for (let i = 0; i < 5; i++) {
    await box.ingest(token, { message: `line ${i} of the log`, level: 300 });
    await box.clock.turn(600_000);
  }
  const ask = (more: object = {}) =>
    box.api("POST", "/v1/projects/p/rules/dry-run", { rule, ...more });
  const changes = () =>
    ["alerts", "timeline", "window_hits", "templates", "log_lines", "audit"].map((table) =>
      box.tenant.store.sql<[], number>(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
  const before = changes();
  const [first, second] = await Promise.all([ask(), ask()]);
  assert.deepEqual([first.status, second.status].toSorted(), [200, 429]);
  const whole = first.status === 200 ? first.body : second.body;
  assert.deepEqual([whole.range.complete, whole.range.why, whole.scanned.lines], [true, null, 5]);
  assert.deepEqual([whole.alert_count, whole.near[0].best, whole.near[0].needed], [0, 1, 3]);
  assert.deepEqual(changes(), before);
  // Retention takes the oldest ones.
  box.tenant.store.write((tx) => tx.sql("DELETE FROM log_lines WHERE id <= 2").run());
  const cut = (await ask()).body;
  assert.deepEqual([cut.range.complete, cut.range.why, cut.scanned.lines], [false, "retention", 3]);
  const pasted = (await ask({ lines: ["a b", "a b", "a b", "c d"] })).body;
  assert.deepEqual([pasted.alert_count, pasted.matched], [1, 4]);
  for (const bad of [{ days: 31 }, { lines: Array(1001).fill("x") }, { rule: { name: "" } }])
    assert.equal((await ask(bad)).status, 400, JSON.stringify(bad).slice(0, 50));
});

test("box rule try shows the alerts, what was missed and where they lie", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  for (let i = 0; i < 2; i++)
    await box.ingest(token, { message: "payment failed", level: 400, keys: { provider: "acme" } });
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const input = JSON.stringify({ name: "r", identifier_keys: ["provider"] });
  const said = await run(["rule", "try", "shop", "-", "--plot"], { env, input });
  assert.equal(said.code, 0, said.err);
  assert.match(said.out, /It would have opened 1 alert in 7 days; 2 of 2 lines match\./);
  assert.match(said.out, /2026-01-05 \|.{9}█.{14}\|/);
  assert.match(said.out, /2026-01-05T09:00:00Z {2}2 .*payment failed {2}provider=acme/);
  const bad = await run(["rule", "try", "shop", "-", "--days", "40"], { env, input });
  assert.equal(bad.code, 2);
});
