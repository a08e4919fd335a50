import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dryRunWrite } from "../../src/in/ingest/dry-run/dry-run.ts";
import { runDry } from "../../src/in/ingest/dry-run/run.ts";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";
import { pass, settle } from "../support/until.ts";
import { opensTheSame } from "./dry-run-property.ts";

/** What a rule would have opened on kept lines. */

test("a dry run opens what a box opens that is fed the same events", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await opensTheSame(box, 25);
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
      method: "POST",
      body: lines.join("\n"),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    });
    assert.equal(status, 202);
    await box.clock.turn(60_000);
  }
  const { store } = box.tenant;
  const asked = dryRunWrite.parse({ rule: { name: "r", identifier_keys: ["n"], max_open: 0 } });
  const order = { projectId: 1, input: asked, now: Math.floor(box.clock.now() / 1000) };
  const run = (mono: () => number) =>
    runDry(store, { mono, now: () => 0 }, { ...order, budgetMs: Number.MAX_SAFE_INTEGER });
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
  assert.match(said.out, /2026-01-05 09:00Z {2}2 .*payment failed {2}provider=acme/);
  const bad = await run(["rule", "try", "shop", "-", "--days", "40"], { env, input });
  assert.equal(bad.code, 2);
});

test("whom it would have paged, how often and at night, is what a box does that nobody answers", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  const [ann, bob] = [box.person("member"), box.person("member")];
  // One o'clock at night in Los Angeles, nine in the morning in London.
  const schedules = "/v1/projects/shop/oncall/schedules";
  for (const [name, timezone] of [
    ["la", "America/Los_Angeles"],
    ["london", "Europe/London"],
  ]) {
    const layer = { name: "l", participants: [ann.accountId], rotation_start: 0 };
    const body = { name, timezone, layers: [{ ...layer, shift_minutes: 1440 }] };
    assert.equal((await box.api("POST", schedules, body)).status, 201);
  }
  const rule = (schedule: string) => ({
    name: "r",
    auto_resolve_quiet_minutes: 20,
    reopen_within_seconds: 3600,
    renotify_minutes: 7,
    escalations: [
      { schedules: [schedule], repeat_minutes: 5 },
      { accounts: [bob.accountId], after_minutes: 12 },
    ],
  });
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule("la"))).status, 201);
  await box.ingest(token, { message: "payment failed", level: 400 });
  await pass(box, 1500, 10);
  // Quiet ended it, and it is the same trouble again.
  await box.ingest(token, { message: "payment failed", level: 400 });
  await pass(box, 600, 10);
  const real = box.tenant.store
    .sql<[], number>("SELECT count(*) FROM timeline WHERE kind IN ('escalated', 'renotified')")
    .pluck()
    .get();
  const ask = async (schedule: string) =>
    (await box.api("POST", "/v1/projects/shop/rules/dry-run", { rule: rule(schedule) })).body;
  const la = await ask("la");
  assert.deepEqual([la.page_count, la.night_page_count], [real, real]);
  assert.ok((real ?? 0) >= 5, `${real} are few`);
  assert.deepEqual(la.alerts[0].paged, [ann.accountId, bob.accountId]);
  const london = await ask("london");
  assert.deepEqual([london.page_count, london.night_page_count], [real, 0]);
  const codes = (run: { warnings: { code: string }[] }) => run.warnings.map(({ code }) => code);
  assert.deepEqual(codes(la), [], "the saved rule itself is no other");
});

test("a text that stands only where messages vary matches nothing, and the trial says why", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  for (const order of [4711, 4712, 14711])
    await box.ingest(token, { message: `payment of order ${order} was refused`, level: 400 });
  await settle(box);
  const warned = async (template_contains: string, more: object = {}) => {
    const rule = { name: "t", match: { template_contains, ...more } };
    const { body } = await box.api("POST", "/v1/projects/shop/rules/dry-run", { rule });
    return body.warnings.map(({ code, detail }: Record<string, string>) => [code, detail]);
  };
  const [nothing, varies, ...others] = await warned("4711");
  assert.deepEqual([nothing[0], varies[0], others], ["matches_nothing", "text_varies", []]);
  assert.match(varies[1], /^2 lines have the text of template_contains in a part that varies/);
  assert.deepEqual(await warned("was refused"), []);
  const [, ...none] = await warned("4711", { min_level: 500 });
  assert.deepEqual(none, [], "it would not match them anyway");
});

test("beside a saved rule: what only the one and what only the other opens; a rule that is the same, gaps and strangers are said", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  const saved = { name: "saved", match: { min_level: 400 } };
  await box.api("POST", "/v1/projects/shop/rules", saved);
  for (const [message, level] of [
    ["disk is full", 500],
    ["payment was refused", 400],
    ["queue is long", 300],
  ] as const)
    await box.ingest(token, { message, level });
  await settle(box);
  const ask = (rule: object, more: object = { versus: "saved" }) =>
    box.api("POST", "/v1/projects/shop/rules/dry-run", { rule, ...more });
  const now = Math.floor(box.clock.now() / 1000);
  const high = (await ask({ name: "t", match: { min_level: 500 } })).body;
  const buckets = [{ at: now - (now % 3600), alerts: 2 }];
  assert.deepEqual(high.versus, { alerts: 2, buckets, only_new: [], only_old: ["2"] });
  const low = (await ask({ name: "t" })).body;
  assert.deepEqual(low.versus, { alerts: 2, buckets, only_new: [now], only_old: [] });
  const same = (await ask({ ...saved, name: "copy" }, {})).body;
  assert.equal(same.versus, null);
  assert.deepEqual(same.warnings, [
    { code: "same_as_rule", detail: "The rule saved is the same." },
  ]);
  assert.equal((await ask(saved, { versus: "none" })).status, 404);
  const layer = { name: "l", participants: [box.owner.accountId], shift_minutes: 60 };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "late",
    timezone: "UTC",
    layers: [{ ...layer, rotation_start: now + 3600 }],
  });
  const gaps = (await ask({ name: "t", escalations: [{ schedules: ["late", "none"] }] }, {})).body;
  assert.deepEqual(
    gaps.warnings.map(({ code }: { code: string }) => code),
    ["nobody_on_call", "unknown_schedule"],
  );
  assert.equal(gaps.page_count, 0);

  // As the miner does once two templates have become one.
  box.tenant.store.write((tx) =>
    tx
      .sql(
        `UPDATE templates SET alias_of = (SELECT template_id FROM log_lines WHERE id = 1)
         WHERE id = (SELECT template_id FROM log_lines WHERE id = 2)`,
      )
      .run(),
  );
  const grown = (await ask({ name: "t" }, {})).body.templates;
  assert.deepEqual(
    grown.map(({ matched, grew }: { matched: number; grew: boolean }) => [matched, grew]),
    [
      [2, true],
      [1, false],
    ],
  );

  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const input = JSON.stringify({ name: "t" });
  const said = await run(["rule", "try", "shop", "-", "--versus", "saved"], { env, input });
  assert.match(said.out, /The saved rule saved opened 2 in that time\.\nNew: 1, opened 2026-/);
  const lines = join(scratch(t), "lines.txt");
  writeFileSync(lines, "a b\n\na b\n");
  const pasted = await run(["rule", "try", "shop", "-", "--lines", lines], { env, input });
  assert.match(pasted.out, /It would have opened 1 alert in 7 days; 2 of 2 lines match\./);
});
