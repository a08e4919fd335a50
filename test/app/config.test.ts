import assert from "node:assert/strict";
import { test } from "node:test";
import { boxConfig } from "../../src/app/config.ts";

const backups = (hours?: string, keep?: string) =>
  boxConfig({
    backupDir: "/backups",
    ...(hours !== undefined && { backupHours: hours }),
    ...(keep !== undefined && { backupKeep: keep }),
  }).backups;

test("a directory for backups alone loses an hour at most, and keeps a day of hours and a week of days", () => {
  assert.deepEqual(backups(), { dir: "/backups", hours: 1, keep: 30 });
  assert.equal(backups("0.5")?.hours, 0.5);
  assert.equal(backups("0.02")?.hours, 0.02);
});

test("what is below a bound is refused, not raised", () => {
  for (const hours of ["0.001", "0", "-1", "", "x", "Infinity"])
    assert.throws(() => backups(hours), /--backup-hours must be a number of at least 0\.02, not/);
  for (const keep of ["0", "1.5", "-1", "x"])
    assert.throws(() => backups("1", keep), /--backup-keep must be a whole number of at least 1/);
  assert.throws(() => boxConfig({ backupHours: "0.001" }), /--backup-hours/);
});

test("a link between machines needs a database, and an address that the others can reach", () => {
  const kept = { database: "postgres://box@127.0.0.1/box", publicUrl: "https://a.test" };
  const cluster = (listen: string, address?: string) =>
    boxConfig({ ...kept, clusterListen: listen, ...(address && { clusterAddress: address }) })
      .cluster;
  const listen = { host: "10.0.0.11", port: 8091 };
  assert.deepEqual(cluster("10.0.0.11:8091"), { listen, address: null });
  assert.deepEqual(cluster("0.0.0.0:8091", "a.test:1"), {
    listen: { host: "0.0.0.0", port: 8091 },
    address: { host: "a.test", port: 1 },
  });
  assert.equal(boxConfig(kept).cluster, null);
  for (const all of ["0.0.0.0:8091", "[::]:8091", ":8091"])
    assert.throws(() => cluster(all), /on all addresses needs --cluster-address/);
  assert.throws(() => cluster("10.0.0.11:8091", "[::]:8091"), /needs --cluster-address/);
  assert.throws(() => cluster("8091"), /--cluster-listen must be HOST:PORT/);
  assert.throws(() => boxConfig({ clusterListen: "a:1" }), /--cluster-listen needs --database/);
  assert.throws(() => boxConfig({ clusterAddress: "a:1" }), /needs --cluster-listen/);
});

test("what a box does without its database is one of two things, and needs one", () => {
  const away = (databaseAway?: string) =>
    boxConfig({
      database: "postgres://box@127.0.0.1/box",
      publicUrl: "https://a.test",
      ...(databaseAway !== undefined && { databaseAway }),
    }).databaseAway;
  assert.deepEqual([away(), away("go-on"), away("stop")], ["go-on", "go-on", "stop"]);
  assert.throws(() => away("wait"), /--database-away must be go-on or stop, not "wait"/);
  assert.throws(() => boxConfig({ databaseAway: "stop" }), /--database-away needs --database/);
});
