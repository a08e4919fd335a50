import assert from "node:assert/strict";
import { test } from "node:test";
import { dryRunWrite } from "../../src/ingest/dry-run/dry-run.ts";
import { runDry } from "../../src/ingest/dry-run/run.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import fc from "../support/property.ts";
import { settle } from "../support/until.ts";

/** What a rule would have opened on kept lines is what it opens where the same events come. */

interface Sent {
  /** Seconds since the one before. */
  after: number;
  level: number;
  host: string;
  text: number;
}

const TEXTS = ["disk is full on sda", "payment was refused by the bank", "queue is long"];
const sentEvent = fc.record({
  after: fc.constantFrom(0, 0, 1, 20, 60, 61, 240, 300),
  level: fc.constantFrom(200, 300, 400, 500),
  host: fc.constantFrom("a", "b", "c"),
  text: fc.nat(2),
});
const ruleOf = fc.record({
  match: fc.record({
    min_level: fc.constantFrom(0, 300, 400),
    template_contains: fc.constantFrom("", "", "disk", "is"),
  }),
  conditions: fc.constantFrom([], [{ key: "host", op: "neq", value: "c" }]),
  fire_after: fc.record({
    count: fc.constantFrom(1, 1, 2, 3),
    distinct_sources: fc.constant(1),
    window_minutes: fc.constantFrom(1, 5),
  }),
  identifier_keys: fc.constantFrom([], ["host"]),
  auto_resolve_quiet_minutes: fc.constantFrom(0, 1, 5),
  reopen_within_seconds: fc.constantFrom(0, 0, 300),
  max_open: fc.constantFrom(0, 1, 2),
});

const opened = (alert: Record<string, unknown>, at: unknown) => ({
  ...{ at, count: alert["count"], level: alert["level"] },
  ...{ template: alert["template"], identifiers: alert["identifiers"] },
});

async function feed(box: TestBox, token: string, events: readonly Sent[]) {
  for (const { after, level, host, text } of events) {
    if (after > 0) await box.clock.turn(after * 1000);
    const answer = await box.ingest(token, { message: TEXTS[text], level, keys: { host } });
    assert.equal(answer.status, 202);
  }
}

test("a dry run opens what a box opens that is fed the same events", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  let n = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(sentEvent, { minLength: 1, maxLength: 25 }),
      ruleOf,
      async (events, body) => {
        const name = `p${++n}`;
        const token = await box.project(name, { retain_logs: true });
        const rule = { name: "r", ...body };
        assert.equal((await box.api("POST", `/v1/projects/${name}/rules`, rule)).status, 201);
        await feed(box, token, events);
        await settle(box);
        const asked = dryRunWrite.parse({ rule, days: 30, assume_resolved_after: 2_592_000 });
        const found = runDry(box.tenant.store, box.clock, {
          ...{ projectId: n, input: asked, now: Math.floor(box.clock.now() / 1000) },
          budgetMs: 10_000,
        });
        const real = box.tenant.store
          .sql<[string], Record<string, unknown>>(
            `SELECT a.*, p.name FROM alerts a JOIN projects p ON p.id = a.project_id WHERE p.name = ? ORDER BY a.id`,
          )
          .all(name)
          .map((row) =>
            opened(
              { ...row, identifiers: JSON.parse(String(row["identifiers"])) },
              row["opened_at"],
            ),
          );
        assert.deepEqual(
          found.alerts.map((alert) => opened(alert, alert["opened_at"])),
          real,
        );
        assert.equal(found.alert_count, real.length);
        assert.equal(found.scanned.lines, events.length);
      },
    ),
    { numRuns: Number(process.env["DRY_RUNS"] ?? 60) },
  );
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
