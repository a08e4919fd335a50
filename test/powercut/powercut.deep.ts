import assert from "node:assert/strict";
import { test } from "node:test";
import { without } from "../faults/tools.ts";
import { programAsAsked } from "../support/kept-box.ts";
import { seed } from "../support/seed.ts";
import { runControl } from "./control.ts";
import { cutPower } from "./powercut.ts";
import { cutUpgrades } from "./upgrading.ts";

const skip = without("gcc");
const STATES = Number(process.env["RUNS"] ?? 5000);

test("controls: FULL keeps all, NORMAL loses, OFF damages", { skip }, (t) => {
  const how = { states: 600, seed };
  const found = {
    FULL: runControl("FULL", how),
    NORMAL: runControl("NORMAL", how),
    OFF: runControl("OFF", how),
  };
  assert.deepEqual([found.FULL.corrupt, found.FULL.losing], [0, 0]);
  assert.ok(found.NORMAL.losing > how.states / 4);
  assert.ok(found.OFF.corrupt > how.states / 4);
  t.diagnostic(JSON.stringify(found));
});

test("thousands of power cuts in a box's life: nothing it said yes to is lost", {
  skip,
}, async (t) => {
  const length = { events: 120, large: 80 };
  const figures = await cutPower(await programAsAsked(t), length, { states: STATES, seed });
  t.diagnostic(`seed ${seed}: ${figures.operations} operations, ${JSON.stringify(figures.states)}`);
  assert.deepEqual(figures.wrong, []);
});

test("an upgrade whose power goes is done by the next start, whole", { skip }, (t) => {
  const { states, wrong } = cutUpgrades({ states: Math.ceil(STATES / 5), seed });
  t.diagnostic(`seed ${seed}: ${states} states`);
  assert.deepEqual(wrong, []);
});
