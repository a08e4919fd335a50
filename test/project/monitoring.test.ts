import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { parse } from "yaml";
import { testBox } from "../support/box.ts";
import { root } from "./document.ts";

const read = (name: string) => readFileSync(join(root, "docs", name), "utf8");

test("rules and dashboard ask for metrics that a box has", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { body } = await box.api("GET", "/metrics");
  const known = new Set([...String(body).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const rules = parse(read("prometheus-rules.yaml")).groups[0].rules as { expr: string }[];
  const panels = JSON.parse(read("grafana-dashboard.json")).panels as {
    targets: { expr: string }[];
  }[];
  const asked = [...rules, ...panels.flatMap(({ targets }) => targets)].flatMap(
    ({ expr }) => expr.match(/box_\w+/g) ?? [],
  );
  assert.ok(asked.length > 15);
  assert.deepEqual(
    asked.filter((name) => !known.has(name)),
    [],
  );
});
