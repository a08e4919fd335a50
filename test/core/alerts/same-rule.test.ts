import assert from "node:assert/strict";
import { test } from "node:test";
import { testPlane } from "../../support/plane.ts";

test("a rule that is replaced by what it says already keeps what it counted, whatever order a version wrote it in", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  const body = { fire_after: { count: 2, distinct_sources: 1, window_minutes: 10 } };
  plane.rule(body);
  plane.tenant.store.write((tx) => {
    const text = tx.sql<[], string>("SELECT body FROM rules").pluck().get() ?? "";
    const turned = Object.fromEntries(Object.entries(JSON.parse(text)).reverse());
    tx.sql<[string]>("UPDATE rules SET body = ?").run(JSON.stringify(turned));
  });
  assert.equal((await plane.fire()).alerted, false);
  plane.replaceRule(body);
  assert.equal((await plane.fire()).alerted, true);
  plane.resolve();
  assert.equal((await plane.fire()).alerted, false);
  plane.replaceRule({ ...body, renotify_minutes: 5 });
  assert.equal((await plane.fire()).alerted, false, "what another rule counted is void");
});
