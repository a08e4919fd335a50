import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

/**
 * Whoever stood still for so long that another may have the store mostly writes first that it lives, and hears then that it
 * hasn't got it: no storm of blows showed what it would believe until then. A test of `keeper.test.ts` does.
 */

const TOLD_BY = "a process that stood still tells nothing before it has asked whose the store is";
const NEVER_FORGETS = ["/record/standing.ts", "SURE_MS = 8_000", "SURE_MS = 8e9"];
const RIGHT = ["/record/standing.ts", "SURE_MS = 8_000", "SURE_MS = 7_999"];

/** What that test says of a spoilt source. */
function toldOf(spoilt: readonly string[]): Promise<{ isWell: boolean; said: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const spoil = join(import.meta.dirname, "../../../support/spoil.ts");
  const file = join(import.meta.dirname, "keeper.test.ts");
  const words = ["--import", spoil, `--test-name-pattern=^${TOLD_BY}$`, file];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      words,
      { env: { ...env, SPOILT: JSON.stringify(spoilt) } },
      (error, out, err) => resolve({ isWell: error === null, said: out + err }),
    );
  });
}

test("planted, that who stood still is sure: it is found", async () => {
  const right = await toldOf(RIGHT);
  assert.ok(right.isWell && /pass 1\b/.test(right.said), right.said);
  const spoilt = await toldOf(NEVER_FORGETS);
  assert.equal(spoilt.isWell, false, spoilt.said);
  assert.match(spoilt.said, /nothing waits, and it isn't sure any more/);
});
