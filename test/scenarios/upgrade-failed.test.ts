import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { AGAIN_MS } from "../../src/app/box-standby.ts";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { readMark, writeMark } from "../../src/ground/store/record/mark.ts";
import { run } from "../support/children.ts";
import { hurryWords } from "../support/hurry.ts";
import { long, test } from "../support/long.ts";
import { newer, slowly } from "../support/newer.ts";
import { onPostgres } from "../support/postgres.ts";
import { program, programFile } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { type Machine, twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/** A newer program that can't upgrade the box, on one of two machines and on both. */

const postgresTest = onPostgres(test);
const longOnPostgres = onPostgres(long);
const WHY = /would break 1 references/;
/** Of its refusal is said that the data is damaged. */
const BREAKS = `CREATE TABLE later (x INTEGER PRIMARY KEY, of REFERENCES later (x)); INSERT INTO later VALUES (1, 2);`;
const LATER = "CREATE TABLE later (x);";
/** By how much the time of one machine is the faster. */
const TIMES = 5;

const asked = async ({ url, api }: Machine, path: string) =>
  (
    await fetch(`${url}${path}`, {
      headers: { connection: "close", authorization: `Bearer ${api.key}` },
    })
  ).text();
const databaseOf = async (machine: Machine) => {
  const { checks } = JSON.parse(await asked(machine, "/readyz")) as {
    checks: { name: string; ok: boolean; detail: string }[];
  };
  return checks.find(({ name }) => name === "database");
};
const doctor = async ({ data }: Machine, [, file]: readonly [string, string]) =>
  (await run(file, ["doctor", "--data", data])).out;
const hurried = ([node, file]: readonly [string, string]): Program => [
  node,
  ...hurryWords({ from: Date.now(), times: TIMES }),
  file,
];
/** A failure that was noted and is over. */
const noteFailed = ({ data }: Machine, schema: number) => {
  const mark = readMark(data);
  assert.ok(mark !== null);
  writeMark(data, { ...mark, failed: { schema, why: "long ago" } });
};

/** What an address answers, asked again and again; refused connections don't count. */
async function statuses(url: string, signal: AbortSignal): Promise<Set<number>> {
  const seen = new Set<number>();
  while (!signal.aborted) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) seen.add(answer.status);
    await pause(10);
  }
  return seen;
}

describe("an upgrade that fails", { concurrency: true }, () => {
  postgresTest(
    "an upgrade that fails on both machines is said by both, and by who serves",
    async (t) => {
      const broken = await newer(scratch(t), BREAKS);
      const { one, two, ledger } = await twoMachines(t, { isLinked: true });
      await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
      assert.ok(!(await asked(one, "/v1/role")).includes("upgrade_failed"));
      await two.stop();
      await one.stop();
      // With 65 systemd wouldn't start it again.
      for (const machine of [one, two])
        await assert.rejects(machine.startAs(broken), /exit code 1\b.*would break/s);
      assert.match(await doctor(one, broken), WHY);

      // Nobody serves, and whoever is started again says why.
      await one.startAs(broken);
      await two.startAs(broken);
      for (const machine of [one, two]) {
        const { status, role } = (await machine.role()) ?? {};
        assert.deepEqual({ status, role }, { status: 503, role: "none" });
        assert.match(await asked(machine, "/v1/role"), /"upgrade_failed":true/);
        const { ok, detail } = (await databaseOf(machine)) ?? {};
        assert.equal(ok, false);
        assert.match(detail ?? "", /took the box, and couldn't upgrade it/);
        const metrics = await asked(machine, "/metrics");
        assert.match(metrics, /^box_upgrade_failed 1$/m);
        assert.match(metrics, /^box_can_take 0$/m);
        assert.match(await doctor(machine, broken), WHY);
      }

      // The program before serves, and says what is wrong with the other machine.
      await two.kill();
      await two.startAs(await program());
      assert.equal((await two.role())?.role, "owner");
      await untilSo(async () => (await databaseOf(two))?.ok === false, "it hears of the other one");
      assert.match((await databaseOf(two))?.detail ?? "", WHY);
      assert.match(await asked(two, "/v1/role"), /"upgrade_failed":true/);
      assert.match(await asked(two, "/metrics"), /^box_upgrade_failed 1$/m);
      assert.ok(!(await doctor(two, broken)).includes("couldn't be upgraded"));
      assert.ok(await ledger.send(one, "by the one that can't"));

      // What it couldn't do is the lesser fault where it doesn't hear the database.
      one.reach(false);
      await untilSo(
        async () => /its log says why/.test((await databaseOf(one))?.detail ?? ""),
        "it doesn't hear the database",
      );
      one.reach(true);

      // Nothing is said any more when a program that can is there.
      await one.stop();
      const plain = [process.execPath, await programFile()] as const;
      assert.match(await doctor(one, broken), WHY);
      assert.ok(!(await doctor(one, plain)).includes("couldn't be upgraded"));
      await one.startAs(await program());
      await untilSo(async () => (await databaseOf(two))?.ok === true, "both are well");
      assert.ok(!(await asked(one, "/v1/role")).includes("upgrade_failed"));
      assert.match(await asked(one, "/metrics"), /^box_can_take 1$/m);

      // Also whoever serves with its own disk has it done.
      await one.stop();
      await two.stop();
      noteFailed(two, migrations("box").length);
      two.reach(false);
      await two.startAs(hurried(plain));
      assert.equal((await two.role())?.role, "alone");
      assert.equal(readMark(two.data)?.failed, null);
    },
  );

  postgresTest(
    "a machine that couldn't upgrade the box tries again once nobody has it",
    async (t) => {
      const next = await newer(scratch(t), LATER);
      const { one, two, ledger } = await twoMachines(t, { isLinked: true });
      await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
      await two.stop();
      await one.stop();
      // The copy before the upgrade can't be laid there.
      const copy = join(one.data, `box.db.schema-${migrations("box").length}`);
      mkdirSync(copy);
      writeFileSync(join(copy, "file"), "");
      await assert.rejects(one.startAs(next), /did not start/);
      await two.start();
      await untilSo(async () => (await two.role())?.role === "owner", "the program before serves");
      const [node, file] = next;
      await one.startAs([node, ...hurryWords({ from: Date.now(), times: TIMES }), file]);
      await pause(AGAIN_MS / TIMES);

      // It leaves the box to the other one, which is back within moments.
      await two.stop();
      await two.start();
      assert.equal((await two.role())?.role, "owner");
      await untilSo(async () => (await one.role())?.role === "standby", "it stands by still");
      rmSync(copy, { recursive: true });
      await two.stop();
      const isUnready = async () => (await fetch(`${one.url}/readyz`)).status === 503;
      await untilSo(isUnready, "nobody serves, and it waits");
      // Its ports are asked on, also while the copy becomes its store.
      const over = new AbortController();
      const answers = statuses(`${one.url}/v1/role`, over.signal);
      await untilSo(async () => (await one.role())?.role === "owner", "its second try");
      over.abort();
      // 503: not yet.
      assert.deepEqual(
        [...(await answers)].filter((status) => status !== 503),
        [200],
      );
      assert.ok(await ledger.send(one, "after it"));
      assert.ok(!(await doctor(one, next)).includes("couldn't be upgraded"));

      // Whoever stands by sees that another one has done it.
      noteFailed(two, migrations("box").length + 1);
      await two.startAs(next);
      await untilSo(async () => readMark(two.data)?.failed === null, "what failed is forgotten");
    },
  );

  postgresTest("what only a machine's disk has outlives an upgrade that fails there", async (t) => {
    const next = await newer(scratch(t), LATER);
    const newest = await newer(scratch(t), LATER, BREAKS.replaceAll("later", "latest"));
    const { one, two, ledger } = await twoMachines(t, { isLinked: true });
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    await two.stop();
    const alone = async (n: string) => {
      one.reach(false);
      await untilSo(async () => (await one.role())?.role === "alone", "it goes on by its disk");
      assert.ok(await ledger.send(one, n));
      await one.stop();
      one.reach(true);
    };
    const has = async (machine: Machine, n: string) =>
      (await asked(machine, "/v1/alerts")).includes(`"n":"${n}"`);
    await alone("first");
    const copy = join(one.data, `box.db.schema-${migrations("box").length}`);
    mkdirSync(copy);
    writeFileSync(join(copy, "file"), "");
    await assert.rejects(one.startAs(next), /did not start/);
    await one.startAs(hurried(next));
    const { status, role } = (await one.role()) ?? {};
    assert.deepEqual({ status, role }, { status: 503, role: "none" });
    assert.match(await asked(one, "/v1/role"), /"upgrade_failed":true/);
    rmSync(copy, { recursive: true });
    await untilSo(async () => (await one.role())?.role === "owner", "its second try");
    assert.ok(await has(one, "first"));

    // Another machine has the box meanwhile: it is handed over there.
    await alone("second");
    await assert.rejects(one.startAs(newest), /exit code 1\b.*would break/s);
    await one.startAs(newest);
    const over = one.ended();
    await two.startAs(next);
    await untilSo(async () => (await two.role())?.role === "owner", "the other one takes the box");
    assert.ok(!(await has(two, "second")));
    assert.equal((await over).code, 1);
    await one.startAs(newest);
    await untilSo(() => has(two, "second"), "it is handed over");
  });

  longOnPostgres(
    "a machine that is killed or stopped while it upgrades the box leaves it to the other one",
    async (t) => {
      const next = await newer(scratch(t), slowly(60));
      const { one, two, ledger, ask } = await twoMachines(t, { isLinked: true, mib: 1 });
      await two.stop();
      await two.startAs(next);
      await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
      await one.stop();
      await untilSo(async () => readMark(two.data)?.failed != null, "it upgrades the box");
      await two.stop();
      assert.equal(readMark(two.data)?.failed, null);
      const lives = "SELECT alive_until > clock_timestamp() AS lives FROM tenant_stores";
      assert.deepEqual(await ask(lives), [{ lives: false }]);

      const tried = one.startAs(next).catch(() => {});
      await untilSo(async () => readMark(one.data)?.failed != null, "it upgrades the box");
      await one.kill();
      await tried;
      await one.startAs(next);
      assert.match(await doctor(one, next), /ended while it upgraded the box/);
      await two.start();
      await untilSo(async () => (await two.role())?.role === "owner", "the program before serves");
      assert.ok(await ledger.send(one, "by the one that was killed"));
    },
  );
});
