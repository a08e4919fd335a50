import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openReadOnly } from "../../src/ground/store/database.ts";
import { type Machine, twoMachines } from "../support/two-machines.ts";

const HAPPENS_MS = 300_000;

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + HAPPENS_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `it never happens that ${what}`);
    await pause(50);
  }
}

const isRole = (machine: Machine, role: string) => async () =>
  (await machine.role())?.role === role;

interface Alert {
  id: string;
  n: string;
  state: string;
  count: number;
}

/** Every alert of the store in a machine's directory. */
function alertsOf(machine: Machine): Alert[] {
  const db = openReadOnly(join(machine.data, "box.db"));
  try {
    return db
      .prepare(
        "SELECT CAST(id AS TEXT) AS id, json_extract(identifiers, '$.n') AS n, state, count FROM alerts ORDER BY alerts.id",
      )
      .all() as Alert[];
  } finally {
    db.close();
  }
}

const alertOf = (machine: Machine, n: string) => {
  const found = alertsOf(machine).find((alert) => alert.n === n);
  assert.ok(found, `the alert of event ${n}`);
  return found;
};

const isNoted = (machine: Machine) => existsSync(join(machine.data, "unconfirmed.ndjson"));

/** What is sealed or hashed in the store, and so mustn't be readable in anything that is made of it. */
const SECRETS = ["canary-webhook-secret-5e1d", "correct horse battery"];

/** None of them stands there, and what stands in the store in plain does. */
function holdsNoSecret(where: string, bytes: Buffer, secrets: readonly string[]): void {
  assert.ok(bytes.includes("the till is stuck"), `${where} holds events`);
  for (const secret of secrets) assert.ok(!bytes.includes(secret), `${secret} is in ${where}`);
}

/** The files of a machine, but the keys; each is its own alone. */
function filesOf({ data }: Machine): Buffer {
  const names = readdirSync(data, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => join(data, name)).filter((path) => statSync(path).isFile());
  for (const path of files) assert.equal(statSync(path).mode & 0o077, 0, path);
  return Buffer.concat(
    files.filter((path) => !/box\.key/.test(path)).map((path) => readFileSync(path)),
  );
}

async function stage(t: TestContext) {
  const world = await twoMachines(t);
  const { one, two, ledger } = world;
  await until("the other stands by", isRole(two, "standby"));
  // Its owner hears of it with the next answer.
  await until("the owner knows that another stands by", async () => {
    const mark = await import("../../src/ground/store/record/mark.ts");
    return mark.readMark(one.data)?.hasOthers === true;
  });
  return {
    ...world,
    rings: (n: string) =>
      until(`event ${n} rings`, () => ledger.pages.some((page) => page.n === n)),
    /** Sent once, and answered. */
    send: async (n: string) => assert.ok(await ledger.send(one, n), `event ${n} is answered`),
    does: (n: string, verb: string, body: object = {}) =>
      one.api.need("POST", `/v1/alerts/${alertOf(one, n).id}/${verb}`, body),
  };
}

/**
 * The database is away for both machines. Alerts come `afterMs` after it went: each is answered and rings, and what is done
 * to it meanwhile holds when the database is back.
 */
export async function awayStory(t: TestContext, afterMs: readonly number[]): Promise<void> {
  const { one, two, ask, send, rings, does } = await stage(t);
  await send("before");
  await rings("before");
  const from = performance.now();
  for (const machine of [one, two]) machine.reach(false);
  for (const after of afterMs) {
    await pause(Math.max(0, from + after - performance.now()));
    const since = performance.now();
    await send(String(after));
    await rings(String(after));
    t.diagnostic(
      `${after} ms after it was lost: rings after ${Math.round(performance.now() - since)} ms`,
    );
  }
  const [first = 0] = afterMs;
  await does("before", "ack");
  await does(String(first), "ack");
  assert.ok(isNoted(one));
  for (const machine of [one, two]) machine.reach(true);
  await until("the database has everything", () => !isNoted(one));
  await until("it is the owner by the database again", isRole(one, "owner"));
  // The other takes it, from what the database has.
  await one.stop();
  await until("the other takes the box", isRole(two, "owner"));
  assert.deepEqual(
    alertsOf(two).map(({ n, state, count }) => ({ n, state, count })),
    ["before", ...afterMs.map(String)].map((n) => ({
      n,
      state: n === "before" || n === String(first) ? "acknowledged" : "open",
      count: 1,
    })),
  );
  const stores = await ask("SELECT epoch FROM tenant_stores");
  assert.deepEqual(stores, [{ epoch: 2 }], "nobody took it meanwhile");
}

/**
 * The owner alone is cut off, and the other takes the box. What the first confirmed meanwhile, and what people did there, is
 * in the other's store, once. `blows`: so many times the first is killed while it hands over.
 */
export async function takenStory(t: TestContext, { kills }: { kills: number }): Promise<void> {
  const { one, two, ask, ledger, send, rings, does } = await stage(t);
  const token = await one.project("vault");
  const [secret] = SECRETS;
  await one.api.need("POST", "/v1/projects/vault/webhooks", {
    url: "https://hook.example",
    secret,
  });
  const secrets = [...SECRETS, token, one.api.key];
  for (const n of ["known", "known-resolved"]) await send(n);
  await rings("known-resolved");
  const known = alertOf(one, "known").id;
  one.reach(false);
  // Some wait until it goes on by its own disk.
  await Promise.all(["1", "2", "3"].map(send));
  await until("it goes on alone", isRole(one, "alone"));
  for (const n of ["4", "5", "6", "4"]) await send(n);
  await Promise.all(["1", "2", "3", "4", "5", "6"].map(rings));
  for (const n of ["known", "1", "5"]) await does(n, "ack");
  for (const n of ["known-resolved", "6"]) await does(n, "resolve");
  await does("2", "notes", { text: "the till is being looked at" });
  await send("6");
  const vault = await one.ingest(token, { message: "the vault is open", keys: { n: "vault" } });
  assert.equal(vault.status, 202);
  holdsNoSecret("its files", filesOf(one), secrets);
  holdsNoSecret("its file", readFileSync(join(one.data, "unconfirmed.ndjson")), secrets);
  const refused = await one.api.call("POST", "/v1/projects", { name: "lost" });
  assert.equal(refused.status, 503, "what only this disk knows would be undone");
  assert.ok(await isRole(one, "alone")());
  const outside = new Map(alertsOf(one).map(({ id, n }) => [id, n]));
  await until("the other takes the box", isRole(two, "owner"));
  await ledger.send(two, "there");
  await rings("there");
  one.reach(true);
  assert.equal((await one.ended()).code, 1);
  for (let i = 0; i < kills; i++) {
    const starting = one.start().catch(() => {});
    await pause(150 * i);
    await one.kill();
    await starting;
  }
  // Nobody takes it at once.
  two.signal("SIGSTOP");
  await one.start();
  const handed = await ask<{ what: string }>("SELECT what FROM tenant_handed");
  two.signal("SIGCONT");
  holdsNoSecret("tenant_handed", Buffer.from(JSON.stringify(handed)), secrets);
  await until("it has handed over", () => !isNoted(one));
  await until(
    "all of it is taken",
    async () => (await ask("SELECT 1 FROM tenant_handed")).length === 0,
  );
  const there = alertsOf(two);
  const states = there.map(({ n, state, count }) => `${n} ${state} ${count}`).toSorted();
  assert.deepEqual(states, [
    "1 acknowledged 1",
    "2 open 1",
    "3 open 1",
    "4 open 2",
    "5 acknowledged 1",
    "6 open 1",
    "6 resolved 1",
    "known acknowledged 1",
    "known-resolved resolved 1",
    "there open 1",
    "vault open 1",
  ]);
  holdsNoSecret("what the database held", filesOf(two), secrets);
  assert.equal(alertOf(two, "known").id, known);
  for (const { id, n } of there)
    assert.equal(outside.get(id) ?? n, n, `alert ${id} was another one outside`);
  const timeline = await two.api.need("GET", `/v1/alerts/${alertOf(two, "2").id}/timeline`);
  assert.match(JSON.stringify(timeline), /the till is being looked at/);
}
