import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { type HostedFlags, hostedConfig } from "../../../src/app/hosted-config.ts";
import { hostedHealth, type NodeState } from "../../../src/app/operate/hosted-health.ts";
import { UsageError } from "../../../src/ground/kit/flags.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { createDatabaseTally } from "../../../src/hosted/registry/postgres/tally.ts";
import { placeOf } from "../../../src/records/backup/place.ts";
import { createScheduler } from "../../../src/tenant/scheduler.ts";
import { handClock } from "../../support/clock.ts";
import { scratch } from "../../support/scratch.ts";

const SECRET = "hunter2";
const URL = `postgres://box:${SECRET}@db1,db2:5433/pages`;

function faultsOf(flags: HostedFlags): string {
  try {
    hostedConfig(flags);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    assert.ok(!error.message.includes(SECRET), error.message);
    return error.message;
  }
  return "";
}

test("the database's address comes from a flag or a file, and no message shows its password", (t) => {
  const file = join(scratch(t), "url");
  writeFileSync(file, `${URL}\n`);
  for (const flags of [{ database: URL }, { databaseFile: file }]) {
    const { database, node, drainSeconds, keyFile } = hostedConfig({ ...flags, data: "d" });
    assert.deepEqual(
      database?.url.hosts.map(({ host, port }) => `${host}:${port}`),
      ["db1:5432", "db2:5433"],
    );
    assert.deepEqual([database?.pool, node, drainSeconds], [8, null, 5]);
    assert.equal(keyFile, join("d", "hosted.key"));
    assert.equal(hostedConfig({ ...flags, data: "d" }).retention.logBytes, 256 * 1024 ** 2);
  }
  assert.match(faultsOf({ database: URL, databaseFile: file }), /use one of them/);
  assert.match(faultsOf({ database: URL.replace("/pages", "") }), /^--database: it must name/);
  assert.match(faultsOf({ databaseFile: `${file}.none` }), /can't be read \(ENOENT\)/);
  assert.match(faultsOf({ database: `${URL}?sslmode=${SECRET}` }), /sslmode must be one of/);
  assert.match(faultsOf({ database: URL, node: "a/b" }), /--node must be/);
  assert.match(faultsOf({ database: URL, logGib: "1.1" }), /--log-gib must be at most 1/);
  assert.equal(hostedConfig({ logGib: "3" }).retention.logBytes, 3 * 1024 ** 3);
  assert.match(faultsOf({ database: URL, databasePool: "0" }), /--database-pool must be/);
});

test("without a database its flags are refused and nothing changes", () => {
  const { database, drainSeconds, keyFile, data } = hostedConfig({});
  assert.deepEqual([database, drainSeconds, keyFile], [null, 0, join(data, "hosted.key")]);
  for (const flags of [{ node: "a" }, { databasePool: "3" }, { databaseCa: "/none" }])
    assert.match(faultsOf(flags), /needs --database/);
  assert.equal(hostedConfig({ hostedKey: "/etc/k", drainSeconds: "3" }).keyFile, "/etc/k");
});

test("readiness of a node: the database away for 10 s, the clock off by 5 and by 60 s, and leaving", () => {
  const clock = handClock();
  const told = (node: NodeState) => {
    const health = hostedHealth({
      clock,
      scheduler: createScheduler(clock, silentLog, []),
      seen: () => ({ apns: "set", boxes: null, leads: {} }),
      tenants: () => ({ open: 0, opened: 0, closed: 0, broken: 0, lost: 0 }),
      node: () => node,
      pages: () => [],
      pushes: () => [],
      sent: () => null,
    });
    const bad = health.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    return [health.status, ...bad];
  };
  const at = (unheardMs: number, aheadMs: number | null, draining = false): NodeState => ({
    draining,
    database: { unheardMs, aheadMs, nodes: 2, load: createDatabaseTally().load() },
  });
  assert.deepEqual(told({ draining: false, database: null }), ["ok"]);
  assert.deepEqual(told(at(10_000, null)), ["ok"]);
  assert.deepEqual(told(at(10_001, 0)), ["failed", "database"]);
  assert.deepEqual(told(at(0, -5_000)), ["ok"]);
  assert.deepEqual(told(at(0, -5_001)), ["degraded", "clock"]);
  assert.deepEqual(told(at(0, 60_001)), ["failed", "clock"]);
  assert.deepEqual(told(at(0, 0, true)), ["failed", "node"]);
  assert.deepEqual(told({ draining: true, database: null }), ["failed", "node"]);
});

test("a backup of a node's registry is refused, and the message says where the registry is", (t) => {
  const data = scratch(t);
  assert.equal(placeOf(data, "hosted.db").kind, "hosted");
  writeFileSync(join(data, "node.id"), "a\n");
  assert.throws(() => placeOf(data, "hosted.db"), /pg_dump/);
});
