import assert from "node:assert/strict";
import { test } from "node:test";
import { relayCrash } from "./relay-crash.ts";

test("five kills of box or hosted role: every page arrives, none after an unpairing, none twice for nothing", async () => {
  const { kills, alerts } = await relayCrash({ kills: 5, seed: 7 });
  assert.deepEqual([kills.box + kills.hosted, alerts], [5, 5]);
  assert.ok(kills.box > 0 && kills.hosted > 0, "the seed kills both");
});
