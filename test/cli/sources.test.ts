import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";

test("a source shows what became of its events, and what was refused last", async (t) => {
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const token = await served.project("shop", { name: "web" });
  const box = async (...words: string[]) => {
    const { out, err } = await run(words, {
      env: { BOX_URL: served.url, BOX_KEY: served.owner.key },
    });
    assert.equal(err, "");
    return out;
  };
  assert.equal(
    await box("source", "show", "shop", "web"),
    "accepted   0 since the box started\nno rule    took 0 of them\nrefused    none\nlast seen  never\n",
  );
  await served.ingest(token, { message: "taken" });
  await served.ingest(token, { message: "refused", level: "high" });
  const shown = await box("source", "show", "shop", "web");
  assert.match(
    shown,
    /^accepted +1 since the box started\nno rule +took 1 of them\nrefused +1 invalid_request\n/,
  );
  assert.match(
    shown,
    /last seen +\d+ s ago\nthe latest refusal, \d+ s ago: \/level: must be .* \(invalid_request\)\n/,
  );
  assert.match(shown, /\n {2}\{"message":"refused","level":"high"\}\n$/);
});
