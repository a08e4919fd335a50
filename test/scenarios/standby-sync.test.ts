import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { without } from "../faults/tools.ts";
import { postgresTest } from "../support/postgres.ts";
import { program } from "../support/program.ts";
import { type Machine, twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/** How long a machine lives after its latest word. */
const LIFE_MS = 10_000;
const SLOW_MS = 12_000;
const ANSWER_MS = 5_000;

/** This program on a disk that needs so long to sync the copy of the store. */
const slowly = (of: Program, copy: string): Program => {
  const delayed = `inject=fsync:delay_enter=${SLOW_MS * 1000}`;
  const calls = ["-e", "trace=fsync", "-e", delayed, "-P", copy];
  return ["strace", "-D", "-f", "-qq", "-o", "/dev/null", ...calls, ...of];
};

postgresTest(
  "a machine that takes the box answers while its disk syncs the copy, and keeps the box",
  async (t) => {
    const missing = without("strace");
    if (missing) return t.skip(String(missing));
    const { one, two, ask } = await twoMachines(t, { isLinked: true });
    await two.stop();
    await two.startAs(slowly(await program(), join(two.data, "box.db.copy")));
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    assert.equal((await one.stop()).code, 0);
    const owner = async () =>
      (
        await ask<{ epoch: number; isAlive: boolean }>(
          `SELECT epoch, alive_until > clock_timestamp() AS "isAlive" FROM tenant_stores`,
        )
      )[0];
    await untilSo(async () => (await owner())?.epoch === 2, "it has taken the box");
    const from = performance.now();
    for (let isServed = false; !isServed; await pause(100)) {
      const asked = performance.now();
      isServed = (await two.role())?.role === "owner";
      assert.ok(performance.now() - asked < ANSWER_MS, "it answers at once");
      assert.deepEqual(await owner(), { epoch: 2, isAlive: true }, "it is still that one's");
    }
    assert.ok(performance.now() - from > LIFE_MS, "it took longer than a machine lives");
  },
);

postgresTest("a machine that takes what was left doesn't read all of its copy again", async (t) => {
  const { one, two, ledger } = await twoMachines(t, { isLinked: true, mib: 5 });
  await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
  assert.equal((await one.stop()).code, 0);
  assert.ok(await ledger.send(two, "after it was left"));
  const metrics = async ({ url, api }: Machine) => {
    const headers = { authorization: `Bearer ${api.key}` };
    return (await fetch(`${url}/metrics`, { headers })).text();
  };
  assert.match(await metrics(two), /^box_pages_compared_total\{why="start"\} 0$/m);
  await one.start();
  await untilSo(async () => (await one.role())?.behind === 0, "its copy is up to date");
  assert.ok(await ledger.send(two, "and it is kept"));
  await two.kill();
  assert.ok(await ledger.send(one, "after it was lost"));
  assert.match(await metrics(one), /^box_pages_compared_total\{why="start"\} 1$/m);
});
