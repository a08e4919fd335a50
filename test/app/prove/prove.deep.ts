import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { program } from "../../support/program.ts";
import { proved } from "./proved.ts";

test("what was fed by the last kill may be too little: it is fed on until something is proven", async (t) => {
  const { verdict, directory, told } = await proved({
    program: await program(),
    seed: 14,
    kills: 0,
  });
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.deepEqual(verdict.unproven, [], told);
  assert.ok(verdict.ok, told);
});
