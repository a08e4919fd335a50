import assert from "node:assert/strict";
import { test } from "node:test";
import { followTried } from "../../../src/core/alerts/tried-pages.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { handClock } from "../../support/clock.ts";
import { step, testPlane } from "../../support/plane.ts";

test("a rule that is tried pages as its alerts would have: repeats until their end, and the fallback where nothing reaches anybody", async (t) => {
  const plane = testPlane(handClock(Date.UTC(2026, 0, 5, 21, 50)));
  t.after(() => plane.close());
  const { store } = plane.tenant;
  for (const name of ["ann", "bob", "cid"]) plane.account(name);
  store.write((tx) => {
    tx.sql("UPDATE accounts SET role = 'owner' WHERE id = 'cid'").run();
    tx.sql(
      `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, verified_at, created_at)
       VALUES ('c', 'bob', 'webhook', '', '', '', 'verified', 1, 1)`,
    ).run();
  });
  const at = plane.start;
  const tried = (...ladder: ReturnType<typeof step>[]) => {
    const rule = plane.rule({ escalations: ladder });
    const alerts = [{ opened_at: at, ended_at: at + 1800, level: 400 }];
    const { paged, pages, nightPages } = finish(
      followTried(store, rule, { alerts, until: at + 86_400 }),
    );
    return [paged, pages, nightPages];
  };
  assert.deepEqual(tried(step(0, ["bob"], { repeat: 10 })), [[["bob"]], 3, 2]);
  assert.deepEqual(tried(step(5, ["ann"])), [[["ann", "cid"]], 2, 0]);
});
