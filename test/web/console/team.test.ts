import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settleTeam } from "../../support/team.ts";

test("no sentence has a code in it: what a team reads of its phones, people and alerts", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox();
  t.after(() => box.stop());
  const paths = await settleTeam(box, receiver);
  const tab = signedIn(box);
  for (const path of [...Object.values(paths), "/oncall", "/people", "/me", "/me/devices"]) {
    const page = await tab.get(path);
    assert.equal(page.status, 200, path);
    const read = page.text.replace(/<head>[\s\S]*?<\/head>|<[^>]*>|https?:\/\/\S*/g, " ");
    const codes = read.match(/.{0,30}(\b[a-z]+_[a-z_]+\b|\b[0-9a-f]{16}\b)/g) ?? [];
    assert.deepEqual(codes, [], path);
    if (path === paths["simulate-sweep"]) assert.match(read, /Jonas Weber\s+wakes after 10 min/);
  }
});
