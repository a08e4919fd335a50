import assert from "node:assert/strict";
import { after, before } from "node:test";
import { long, test } from "../support/long.ts";
import { program } from "../support/program.ts";
import { createStage, type Fault, faults, type Stage } from "./injected.ts";
import { without } from "./tools.ts";

const skip = without("strace");

let stage: Stage;
before(async () => {
  if (!skip) stage = await createStage(await program());
});
after(() => stage?.close());

/** Runs with the Nth call failing; what was promised holds in each. Returns their exit codes. */
async function sweep(fault: Fault, numbers: number[]): Promise<(number | null)[]> {
  const codes: (number | null)[] = [];
  for (const n of numbers) {
    const { injected, code, breaches } = await stage.run(fault, n);
    assert.deepEqual(breaches, [], `${fault.calls} number ${n}`);
    assert.ok(injected, `${fault.calls} number ${n} was never called: the run is too short`);
    codes.push(code);
  }
  return codes;
}

test("a failed sync ends the box with 74, and what was accepted is there", { skip }, async () => {
  assert.deepEqual(await sweep(faults.sync, [1, 9]), [74, 74]);
});

long("a failed write ends the box with 74, and what was accepted is there", { skip }, async () => {
  const codes = await sweep(faults.write, [30]);
  assert.deepEqual(codes, [74]);
});

long("a write that finds no room is refused, and the box goes on", { skip }, async () => {
  const { refused, code, breaches, accepted } = await stage.run(faults.full, 40);
  assert.deepEqual([breaches, code], [[], 0]);
  assert.ok(accepted > 0);
  for (const status of refused) assert.equal(status, 429);
});

long("a connection that is refused once costs no page", { skip }, async () => {
  assert.deepEqual(await sweep(faults.connect, [1]), [0]);
});
