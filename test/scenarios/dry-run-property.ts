import assert from "node:assert/strict";
import { dryRunWrite } from "../../src/in/ingest/dry-run/dry-run.ts";
import { runDry } from "../../src/in/ingest/dry-run/run.ts";
import type { TestBox } from "../support/box.ts";
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

interface Rule {
  match: { min_level: number; template_contains: string };
  conditions: { key: string; op: string; value: string | string[] }[];
  fire_after: { count: number; distinct_sources: number; window_minutes: number };
  identifier_keys: string[];
  auto_resolve_quiet_minutes: number;
  reopen_within_seconds: number;
  max_open: number;
  for_minutes: number;
}

const TEXTS = ["disk is full on sda", "payment was refused by the bank", "queue is long"];
const sentEvent = fc.record({
  after: fc.constantFrom(0, 0, 1, 20, 60, 61, 240, 300),
  level: fc.constantFrom(200, 300, 400, 500),
  host: fc.constantFrom("a", "b", "c"),
  text: fc.nat(2),
});
const ruleOf: fc.Arbitrary<Rule> = fc.record({
  match: fc.record({
    min_level: fc.constantFrom(0, 300, 400),
    template_contains: fc.constantFrom("", "", "disk", "is"),
  }),
  conditions: fc.constantFrom(
    [],
    [{ key: "host", op: "neq", value: "c" }],
    [{ key: "host", op: "not_in", value: ["b", "c"] }],
    [{ key: "host", op: "not_matches", value: "[bc]" }],
  ),
  fire_after: fc.record({
    count: fc.constantFrom(1, 1, 2, 3),
    distinct_sources: fc.constant(1),
    window_minutes: fc.constantFrom(1, 5),
  }),
  identifier_keys: fc.constantFrom([], ["host"]),
  auto_resolve_quiet_minutes: fc.constantFrom(0, 1, 5),
  reopen_within_seconds: fc.constantFrom(0, 0, 300),
  max_open: fc.constantFrom(0, 1, 2),
  for_minutes: fc.constantFrom(0, 0, 1, 5),
});

/** What is too many was counted before: its highest level isn't that of the last event. */
const manyCounted: [Sent[], Rule] = [
  [
    ...["a", "a", "b", "b"].map((host) => ({ after: 0, level: 300, host, text: 0 })),
    { after: 0, level: 500, host: "c", text: 0 },
    { after: 1, level: 300, host: "c", text: 0 },
  ],
  {
    match: { min_level: 0, template_contains: "" },
    conditions: [],
    fire_after: { count: 2, distinct_sources: 1, window_minutes: 5 },
    identifier_keys: ["host"],
    auto_resolve_quiet_minutes: 0,
    reopen_within_seconds: 0,
    max_open: 1,
    for_minutes: 0,
  },
];

const opened = (alert: Record<string, unknown>, at: unknown) => ({
  at,
  count: alert["count"],
  level: alert["level"],
  template: alert["template"],
  identifiers: alert["identifiers"],
});

async function feed(box: TestBox, token: string, events: readonly Sent[]) {
  for (const { after, level, host, text } of events) {
    if (after > 0) await box.clock.turn(after * 1000);
    const answer = await box.ingest(token, { message: TEXTS[text], level, keys: { host } });
    assert.equal(answer.status, 202);
  }
}

/** Plays so many random stories of events and rules on one box; throws where the dry run opens anything else. */
export async function opensTheSame(box: TestBox, numRuns: number): Promise<void> {
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
          projectId: n,
          input: asked,
          now: Math.floor(box.clock.now() / 1000),
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
    { numRuns, examples: [manyCounted] },
  );
}
