import assert from "node:assert/strict";
import { without } from "../faults/tools.ts";
import { programAsAsked } from "../support/kept-box.ts";
import { inBoth, long } from "../support/long.ts";
import { runControl } from "./control.ts";
import { cutPower } from "./powercut.ts";
import { cutUpgrades } from "./upgrading.ts";

const skip = without("gcc");
const how = { states: 40, seed: 1 };

long("the replay sees what less than full sync costs", { skip }, () => {
  const full = runControl("FULL", how);
  assert.deepEqual([full.states, full.corrupt, full.losing], [how.states, 0, 0]);
  assert.ok(runControl("NORMAL", how).losing > 0, "NORMAL lost nothing: the replay is broken");
  assert.ok(runControl("OFF", how).corrupt > 0, "OFF damaged nothing: the replay is broken");
});

for (const [test, most] of inBoth(8, 40))
  test(`a box whose power goes at any of ${most} moments starts again and has all it said yes to`, {
    skip,
  }, async (t) => {
    const length = { events: 20, large: 40 };
    const { operations, states, wrong } = await cutPower(await programAsAsked(t), length, {
      states: most,
      seed: 2,
    });
    assert.deepEqual(wrong, []);
    assert.equal(Object.keys(states).length, 8, Object.keys(states).join(", "));
    t.diagnostic(`${operations} operations recorded, states of ${JSON.stringify(states)}`);
  });

long("an upgrade whose power goes is done by the next start, whole", { skip }, () => {
  const { states, wrong } = cutUpgrades({ states: 30, seed: 3 });
  assert.ok(states >= 30);
  assert.deepEqual(wrong, []);
});
