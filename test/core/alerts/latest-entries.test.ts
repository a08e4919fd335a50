import assert from "node:assert/strict";
import { test } from "node:test";
import { latestEntries, writeTimeline } from "../../../src/core/alerts/timeline.ts";
import { testBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";

test("of several alerts at once the latest entry of some kinds is each one's own", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const rule = { name: "r", identifier_keys: ["n"] };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  for (const n of ["a", "b", "c"])
    await box.ingest(token, { message: "down", level: 500, keys: { n } });
  await settle(box);
  const { store } = box.tenant;
  store.write((tx) => {
    writeTimeline(tx, 1, { kind: "assigned", detail: { accounts: ["ann"] } });
    writeTimeline(tx, 2, { kind: "assigned", detail: { accounts: ["bob"] } });
    writeTimeline(tx, 1, { kind: "escalated", detail: { accounts: ["cy"] } });
    writeTimeline(tx, 1, { kind: "note", accountId: box.owner.accountId });
  });
  const last = (ids: number[], kinds: string[]) =>
    [...latestEntries(store, ids, kinds)].map(([id, { kind, detail }]) => [id, kind, detail]);
  assert.deepEqual(last([1, 2, 3, 99], ["assigned", "escalated"]), [
    [2, "assigned", { accounts: ["bob"] }],
    [1, "escalated", { accounts: ["cy"] }],
  ]);
  assert.deepEqual(last([1], ["assigned"]), [[1, "assigned", { accounts: ["ann"] }]]);
  assert.deepEqual(
    last([3, 1], ["note"]).map(([id]) => id),
    [1],
  );
  assert.deepEqual([last([], ["note"]), last([1], [])], [[], []]);
});
