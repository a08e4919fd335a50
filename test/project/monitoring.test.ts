import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { parse } from "yaml";
import type { HostedState } from "../../src/app/operate/hosted-health.ts";
import { hostedMetrics } from "../../src/app/operate/hosted-metrics.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { createPageCounts } from "../../src/hosted/page-counts.ts";
import { createPushCounts } from "../../src/hosted/push-counts.ts";
import { createDatabaseTally } from "../../src/hosted/registry/postgres/tally.ts";
import { createScheduler } from "../../src/tenant/scheduler.ts";
import { createRefusals } from "../../src/web/http/refusals.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { root } from "./document.ts";

const read = (name: string) => readFileSync(join(root, "docs", name), "utf8");

const namesIn = (text: string) =>
  new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name = ""]) => name));

interface Rule {
  alert: string;
  expr: string;
}

const rulesOf = (group: string): Rule[] =>
  parse(read("prometheus-rules.yaml")).groups.find(({ name }: { name: string }) => name === group)
    .rules;

const askedBy = (rules: readonly { expr: string }[]) =>
  rules.flatMap(({ expr }) => expr.match(/box_\w+/g) ?? []);

test("rules and dashboard ask for metrics that a box has", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { body } = await box.api("GET", "/metrics");
  const known = namesIn(String(body));
  const panels = JSON.parse(read("grafana-dashboard.json")).panels as {
    targets: { expr: string }[];
  }[];
  const asked = askedBy([...rulesOf("box"), ...panels.flatMap(({ targets }) => targets)]);
  assert.ok(asked.length > 15);
  assert.deepEqual(
    asked.filter((name) => !known.has(name)),
    [],
  );
});

test("rules for the hosted role ask for metrics that it has, and the document names all", () => {
  const clock = handClock();
  const load = createDatabaseTally().load();
  const state: HostedState = {
    clock,
    scheduler: createScheduler(clock, silentLog, []),
    seen: () => ({ apns: "set", boxes: null, leads: {} }),
    tenants: () => ({ open: 0, opened: 0, closed: 0, broken: 0, lost: 0 }),
    node: () => ({ draining: false, database: { unheardMs: 0, aheadMs: null, nodes: null, load } }),
    pages: createPageCounts().all,
    pushes: createPushCounts().all,
    sent: () => ({ forwarded: 0, failed: 0 }),
  };
  const known = namesIn(hostedMetrics(state, createRefusals(clock, silentLog)));
  const asked = askedBy(rulesOf("box-hosted"));
  assert.ok(asked.length > 8);
  assert.deepEqual(
    asked.filter((name) => !known.has(name)),
    [],
  );
  const document = read("hosted.md");
  const untold = [...known].filter((name) => !document.includes(name));
  assert.deepEqual(untold, []);
});
