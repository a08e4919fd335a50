import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startBoxProcess } from "../../src/app/prove/scratch-box.ts";
import { openSqlite } from "../../src/ground/store/database.ts";
import type { BoxProcess } from "../support/box-process.ts";
import { alertsIn, keptStage, loseDisk } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { startReceiver } from "../support/receiver.ts";

/** A box whose commits are in a database: while that is away, and where it isn't the box's. */

const event = (n: number) => ({ message: "the till is stuck", keys: { n: String(n) } });

const isKept = async ({ api }: BoxProcess) => {
  const health = JSON.parse((await api.call("GET", "/readyz")).body) as {
    checks: { name: string; ok: boolean }[];
  };
  return health.checks.find(({ name }) => name === "database")?.ok ?? false;
};

async function untilKept(box: BoxProcess): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isKept(box))) {
    assert.ok(performance.now() < end, "the database never has everything");
    await pause(100);
  }
}

postgresTest(
  "while the database is away a box goes on by its own disk, and hands all of it in later",
  async (t) => {
    const { machine, reach } = await keptStage(t);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const box = machine("one");
    await box.start();
    const token = await box.project("shop", receiver.url);
    reach(false);
    const since = performance.now();
    const reply = await box.ingest(token, event(1));
    assert.equal(reply.status, 202);
    await receiver.next();
    t.diagnostic(`answered and told ${Math.round(performance.now() - since)} ms after the cut`);
    assert.equal(await isKept(box), false);
    assert.equal((await box.ingest(token, event(2))).status, 202);
    // Its own file is the newer one.
    await box.kill();
    reach(true);
    await box.start();
    assert.ok(await isKept(box));
    assert.deepEqual([...alertsIn(box.data).numbers], ["1", "2"]);

    reach(false);
    assert.equal((await box.ingest(token, event(3))).status, 202);
    reach(true);
    await untilKept(box);
    await box.kill();
    loseDisk(box.data);
    await box.start();
    const { numbers, ids } = alertsIn(box.data);
    assert.deepEqual([...numbers], ["1", "2", "3"]);
    assert.equal((await box.ingest(token, event(4))).status, 202);
    const last = alertsIn(box.data).ids.at(-1) ?? 0;
    assert.ok(last > (ids.at(-1) ?? 0) + 100_000, "an owner that was lost may have given ids out");
  },
);

postgresTest(
  "a box that was killed while the database is away starts by its own disk",
  async (t) => {
    const { machine, reach } = await keptStage(t);
    const box = machine("one");
    await box.start();
    const token = await box.project("shop");
    reach(false);
    assert.equal((await box.ingest(token, event(1))).status, 202);
    await box.kill();
    await box.start();
    assert.equal((await box.ingest(token, event(2))).status, 202);
    reach(true);
    await untilKept(box);
    await box.stop();
    loseDisk(box.data);
    await box.start();
    assert.deepEqual([...alertsIn(box.data).numbers], ["1", "2"]);
    assert.equal((await box.ingest(token, event(3))).status, 202);
    assert.ok((alertsIn(box.data).ids.at(-1) ?? 0) < 100, "it had left: no id is left out");
  },
);

postgresTest(
  "a start that ends before the newer store is whole doesn't take its own for the newer one later",
  async (t) => {
    const { machine, ask } = await keptStage(t);
    const [one, two] = [machine("one"), machine("two")];
    await one.start();
    const token = await one.project("shop");
    assert.equal((await one.ingest(token, event(1))).status, 202);
    await one.kill();
    await assert.rejects(two.start(), /exit code 78.*box\.key/s);
    cpSync(join(one.data, "box.key"), join(two.data, "box.key"));
    two.api.key = one.api.key;
    await two.start();
    assert.equal((await two.ingest(token, event(2))).status, 202);
    await two.stop();
    // The first had gone on alone for long: by its number it is the newer one.
    const db = openSqlite(join(one.data, "box.db"));
    db.exec("UPDATE meta SET value = 1000000 WHERE key = 'commits'");
    db.close();
    await ask("CREATE TABLE whole AS SELECT page, body FROM tenant_pages");
    await ask("UPDATE tenant_pages SET body = 'no page'");
    await assert.rejects(one.start(), /aren't what was kept/);
    await ask("UPDATE tenant_pages p SET body = w.body FROM whole w WHERE p.page = w.page");
    await one.start();
    assert.deepEqual([...alertsIn(one.data).numbers], ["1", "2"]);
  },
);

postgresTest("a box and a database that don't belong together are refused", async (t) => {
  const { machine, plain, ask, root } = await keptStage(t);
  const other = await keptStage(t);
  const box = machine("one");
  await box.start();
  await box.stop();
  const refused = async (at: BoxProcess, why: RegExp) =>
    assert.rejects(
      at.start(),
      (error: Error) => why.test(error.message) && /code 78/.test(error.message),
    );

  // A directory of the database, served without it.
  const alone = await startBoxProcess(plain, box.data).ended;
  assert.equal(alone.code, 78);
  assert.match(alone.said, /name it, --database/);
  // A command where nobody serves.
  const run = promisify(execFile);
  const [command, ...words] = plain;
  await assert.rejects(run(command, [...words, "pair-code", "--data", box.data]), /as well/);
  const backup = join(root, "backup");
  await run(command, [...words, "backup", backup, "--data", box.data]);
  await assert.rejects(
    run(command, [...words, "restore", backup, "--data", box.data, "--replace"]),
    /empty database/,
  );
  // A database that was set back to an earlier life of the box.
  await ask("UPDATE tenant_stores SET epoch = epoch - 1");
  await refused(box, /was set back/);
  await ask("UPDATE tenant_stores SET epoch = epoch + 1");
  // Another box, and an empty database where the box's was.
  const stranger = other.machine("two");
  await stranger.start();
  await stranger.stop();
  const mixed = machine("mixed");
  cpSync(join(stranger.data, "box.db"), join(mixed.data, "box.db"));
  cpSync(join(stranger.data, "box.key"), join(mixed.data, "box.key"));
  await refused(mixed, /another box/);
  await ask("DELETE FROM tenant_pages");
  await ask("DELETE FROM tenant_stores");
  await ask("DELETE FROM tenant_epochs");
  await refused(box, /holds none/);
  writeFileSync(join(box.data, "box.database"), "{");
  await refused(box, /can't be read/);
  rmSync(join(box.data, "box.database"));
  // A registry's database.
  await ask("UPDATE meta SET value = 0 WHERE key = 'kind'");
  await refused(box, /registry of a hosted service/);
  // An empty one takes a box that was alone.
  await ask("UPDATE meta SET value = 1 WHERE key = 'kind'");
  await box.start();
  await box.stop();
  loseDisk(box.data);
  await box.start();
  assert.equal((await box.api.call("GET", "/v1/projects")).status, 200);
});
