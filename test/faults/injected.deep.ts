import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { program } from "../support/program.ts";
import { createStage, faults, type Stage } from "./injected.ts";
import { without } from "./tools.ts";

const skip = without("strace");
/** `FROM=501 RUNS=900` goes on where a sweep of the first 500 ended. */
const FROM = Number(process.env["FROM"] ?? 1);
const MOST = Number(process.env["RUNS"] ?? 500);
/** Runs in a row that never came to the Nth call: the whole story has been swept. */
const PAST_THE_END = 3;

let stage: Stage;
before(async () => {
  if (!skip) stage = await createStage(await program());
});
after(() => stage?.close());

for (const [name, fault] of Object.entries(faults)) {
  test(`the Nth ${fault.calls} fails with ${fault.error}: nothing accepted is lost`, {
    skip,
  }, async (t) => {
    const codes: Record<string, number> = {};
    let injected = 0;
    let accepted = 0;
    for (let n = FROM, past = 0; n <= MOST && past < PAST_THE_END; n++) {
      const run = await stage.run(fault, n);
      assert.deepEqual(run.breaches, [], `${name} number ${n}`);
      past = run.injected ? 0 : past + 1;
      if (run.injected) injected++;
      accepted += run.accepted;
      codes[String(run.code)] = (codes[String(run.code)] ?? 0) + 1;
    }
    assert.ok(injected > 0, "the fault never came");
    t.diagnostic(
      `${injected} faults, ${accepted} events accepted, exit codes ${JSON.stringify(codes)}`,
    );
  });
}
