import assert from "node:assert/strict";
import { differingFlags, flagHashes } from "../../src/app/box-flags.ts";
import { type BoxFlags, boxConfig } from "../../src/app/config.ts";
import { run } from "../support/children.ts";
import { long, test } from "../support/long.ts";
import { onPostgres } from "../support/postgres.ts";
import { programFile } from "../support/program.ts";
import { twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

const of = (flags: BoxFlags) => boxConfig(flags).given;
const one: BoxFlags = {
  data: "/a",
  listen: "10.0.0.11:80",
  clusterListen: "10.0.0.11:8091",
  database: "postgres://box@db/box",
  publicUrl: "https://pager.example.com",
  logDays: "7",
  allowFrom: ["10.1.0.0/16"],
  syslogTcp: ["10.0.0.11:601", "10.0.0.11:602=shop/web"],
};
const two: BoxFlags = {
  ...one,
  data: "/b",
  listen: "10.0.0.12:80",
  clusterListen: "10.0.0.12:8091",
  database: "postgres://other@db/box",
  logLevel: "warn",
  backupDir: "/var/backups",
  syslogTcp: ["10.0.0.12:1602=shop/web", "10.0.0.12:1601"],
};

test("where a machine listens, and what lies on it, is its own; all else is compared", () => {
  assert.deepEqual(differingFlags(of(one), of(two)), []);
  const rows: [BoxFlags, string[]][] = [
    [{ logDays: "8" }, ["--log-days"]],
    [{ databaseAway: "stop" }, ["--database-away"]],
    [{ publicUrl: "https://other.example.com" }, ["--public-url"]],
    [{ egressDeny: ["10.0.0.0/8"], allowActs: true }, ["--allow-acts", "--egress-deny"]],
    [{ syslogTcp: ["10.0.0.12:601"] }, ["--syslog-tcp"]],
    [{ syslogTcp: ["10.0.0.12:601", "10.0.0.12:602=shop/db"] }, ["--syslog-tcp"]],
    [{ smtp: ["10.0.0.12:25"], console: false }, ["--no-console", "--smtp"]],
  ];
  for (const [change, told] of rows)
    assert.deepEqual(differingFlags(of(one), of({ ...two, ...change })), told);
});

test("of an older program's owner nothing is known; no value is told", () => {
  assert.deepEqual(differingFlags(of(one), null), []);
  for (const [flag, hash] of Object.entries(flagHashes(one))) {
    assert.match(flag, /^--[a-z-]+$/);
    assert.match(hash, /^[0-9a-f]{16}$/);
  }
});

onPostgres(long)("a machine that stands by says which of its flags differ", async (t) => {
  const { two: other } = await twoMachines(t, {});
  const flags = async () => {
    const ready = await (await fetch(`${other.url}/readyz`)).json();
    const { checks } = ready as { checks: { name: string; ok: boolean; detail: string }[] };
    return checks.find(({ name }) => name === "flags");
  };
  await untilSo(async () => (await other.role())?.role === "standby", "it stands by");
  assert.equal((await flags())?.ok, true);
  await other.stop();
  await other.startWith(["BOX_LOG_DAYS=3", "BOX_METRICS_OPEN=1", "BOX_LOG_LEVEL=warn"]);
  await untilSo(async () => (await flags())?.ok === false, "it is found");
  const told = "the machine that serves has others: --log-days, --metrics-open";
  assert.equal((await flags())?.detail, told);
  const doctor = await run(await programFile(), ["doctor", "--data", other.data]);
  assert.ok(doctor.out.includes(told), doctor.out);
  const { said } = await other.stop();
  assert.match(said, /has other flags than this one/);
});
