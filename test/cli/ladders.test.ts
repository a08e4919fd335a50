import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";

test("rules with equal steps are shown, and made one ladder with --yes and a name", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const adopt = (...words: string[]) => run(["ladder", "adopt", ...words], { env });
  assert.equal((await adopt()).out, "no two rules have equal rungs\n");
  for (const project of ["shop", "bank"]) {
    await box.project(project);
    for (const after_minutes of [0, 5]) {
      const escalations = [{ accounts: [box.owner.accountId], after_minutes }];
      const rule = { name: `after ${after_minutes}`, escalations };
      assert.equal((await box.api("POST", `/v1/projects/${project}/rules`, rule)).status, 201);
    }
  }
  assert.equal(
    (await adopt("--rule", "shop/after 5")).out,
    "2 rules, rungs after 5 minutes\n  bank/after 5\n  shop/after 5\n",
  );
  const several = await adopt("--yes", "--name", "late");
  assert.equal(several.code, 2);
  assert.match(several.err, /2 ladders could be made: say which with --rule/);
  const done = await adopt("--yes", "--name", "late", "--rule", "shop/after 5");
  assert.equal(done.out, "ladder late: 2 rules refer to it\n");
  const { rules } = (await box.api("GET", "/v1/ladders/late")).body;
  assert.deepEqual(rules, ["bank/after 5", "shop/after 5"]);
});
