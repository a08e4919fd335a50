import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { without } from "../faults/tools.ts";
import { postgresTest } from "../support/postgres.ts";
import { program } from "../support/program.ts";
import { twoMachines } from "../support/two-machines.ts";
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
