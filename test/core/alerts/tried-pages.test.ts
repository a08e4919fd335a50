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
  const triedWith = (
    breaks: { from: number; until: number }[],
    ladder: ReturnType<typeof step>[],
  ) => {
    const rule = plane.rule({ escalations: ladder, auto_resolve_quiet_minutes: 1 });
    const alerts = [{ opened_at: at, ended_at: at + 1800, level: 400, breaks }];
    const { paged, pages, nightPages } = finish(
      followTried(store, rule, { alerts, until: at + 86_400 }),
    );
    return [paged, pages, nightPages];
  };
  const tried = (...ladder: ReturnType<typeof step>[]) => triedWith([], ladder);
  assert.deepEqual(tried(step(0, ["bob"], { repeat: 10 })), [[["bob"]], 3, 2]);
  assert.deepEqual(tried(step(5, ["ann"])), [[["ann", "cid"]], 2, 0]);
  // Nothing rings while it is resolved; then it is told again, and its ladder goes on from where it stood.
  const away = [{ from: at + 60, until: at + 1200 }];
  const ladder = [step(0, ["bob"]), step(5, ["ann"])];
  assert.deepEqual(triedWith(away, ladder), [[["bob", "ann"]], 3, 2]);
});
