import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { newer, slowly } from "../support/newer.ts";
import { postgresTest } from "../support/postgres.ts";
import { scratch } from "../support/scratch.ts";
import { twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/** How long a machine lives after its latest word. */
const LIFE_MS = 10_000;
const SLOW_SECONDS = 15;
/** A store that is upgraded in a thread. */
const MIB = 70;

postgresTest(
  "a machine that takes an older box keeps it, however long the upgrade takes",
  async (t) => {
    const next = await newer(scratch(t), slowly(SLOW_SECONDS));
    const { one, two, ask, ledger } = await twoMachines(t, { isLinked: true, mib: MIB });
    await two.stop();
    await two.startAs(next);
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    const epoch = ((await one.role())?.epoch ?? 0) + 1;
    assert.equal((await one.stop()).code, 0);
    const gone = one.startAs(next);
    const owners = () =>
      ask<{ epoch: number; isAlive: boolean }>(
        `SELECT epoch, alive_until > clock_timestamp() AS "isAlive" FROM tenant_stores`,
      );
    await untilSo(async () => (await owners())[0]?.epoch === epoch, "one of them has taken it");
    const from = performance.now();
    for (let isServed = false; !isServed; await pause(200)) {
      const [row] = await owners();
      assert.deepEqual(row, { epoch, isAlive: true }, "it is still that one's");
      const roles = await Promise.all([one.role(), two.role()]);
      isServed = roles.some((said) => said?.role === "owner");
    }
    assert.ok(performance.now() - from > LIFE_MS, "it took longer than a machine lives");
    await gone;
    assert.ok(await ledger.send(two, "after the upgrade"));
    assert.deepEqual((await owners())[0]?.epoch, epoch);
  },
);

postgresTest("a program that is older than a box that was left stands by for it", async (t) => {
  const next = await newer(scratch(t), "CREATE TABLE later (x);");
  const { one, two, ask, ledger } = await twoMachines(t, { isLinked: true });
  await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
  await two.stop();
  await one.stop();
  await one.startAs(next);
  assert.equal((await one.stop()).code, 0);
  const left = () => ask<object>("SELECT epoch, node, clean FROM tenant_stores");
  const before = await left();
  await two.start();
  await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
  assert.equal((await two.role())?.role, "none");
  assert.deepEqual(await left(), before, "it is left as it was");
  await one.startAs(next);
  assert.ok(await ledger.send(two, "by the older one, to the newer one"));
});

postgresTest(
  "a machine that can't upgrade a large box leaves it to the other one at once",
  async (t) => {
    const broken = await newer(scratch(t), "CREATE no table;");
    const { one, two, ask, ledger } = await twoMachines(t, { isLinked: true, mib: MIB });
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    await two.stop();
    await one.stop();
    await assert.rejects(one.startAs(broken), /CREATE no table|syntax error/);
    const left = await ask<object>(
      `SELECT clean, alive_until > clock_timestamp() AS "isAlive" FROM tenant_stores`,
    );
    assert.deepEqual(left, [{ clean: true, isAlive: false }]);
    await two.start();
    assert.ok(await ledger.send(two, "to the older program"));
  },
);
