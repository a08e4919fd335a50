import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";

test("a page's parts tell of one look at the box's health", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const { store } = box.tenant;
  const { sql } = store;
  let looks = 0;
  store.sql = ((text: string) => {
    if (text === "SELECT 1") looks++;
    return sql(text);
  }) as typeof sql;
  for (const path of ["/search", "/system", "/alerts"]) {
    looks = 0;
    const { status } = await tab.get(path);
    assert.deepEqual([path, status, looks], [path, 200, 1]);
  }
});
