import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqliteRegistry } from "../../src/hosted/registry/sqlite/registry.ts";
import { groupWrites } from "../../src/hosted/registry/sqlite/room.ts";
import { sha256 } from "../../src/kit/ids.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { openStore } from "../../src/store/store.ts";
import { handClock } from "../support/clock.ts";
import { addDevice, deviceToken, hostedBench, pairedBox, plainSealer } from "../support/hosted.ts";

const DAY = 86_400_000;

test("an email is one account, whatever its case", async (t) => {
  const { registry } = hostedBench(t);
  const first = await registry.accounts.add(" Ada@Example.com ");
  assert.equal(first.created, true);
  assert.equal(first.account.email, "Ada@Example.com");
  assert.match(first.account.id, /^[0-9a-f]{16}$/);
  const again = await registry.accounts.add("ada@example.COM");
  assert.deepEqual(again, { account: first.account, created: false });
  assert.deepEqual(await registry.accounts.byEmail("ADA@EXAMPLE.COM"), first.account);
  assert.deepEqual(await registry.accounts.get(first.account.id), first.account);
  assert.equal(await registry.accounts.byEmail("bob@example.com"), null);
});

test("an email is one account, however its letters are composed", async (t) => {
  const { registry } = hostedBench(t);
  const { account } = await registry.accounts.add("zo\u{e9}@example.com");
  const again = await registry.accounts.add("zoe\u{301}@example.com");
  assert.deepEqual(again, { account, created: false });
});

test("a session ends after 30 idle days, and after 180 whatever it does", async (t) => {
  const { registry, clock } = hostedBench(t);
  const { account } = await registry.accounts.add("ada@example.com");
  const idle = await registry.sessions.add(account.id);
  const used = await registry.sessions.add(account.id);
  assert.match(idle, /^pts_[0-9A-Za-z]{43}$/);
  clock.setWall(clock.now() + 30 * DAY - 1000);
  assert.deepEqual(await registry.sessions.use(used), account);
  // The last use is on disk with the next change at the latest.
  await registry.accounts.add("somebody@example.com");
  clock.setWall(clock.now() + 1000);
  assert.equal(await registry.sessions.use(idle), null);
  for (let day = 50; day < 180; day += 20) {
    clock.setWall(handClock().now() + day * DAY);
    assert.deepEqual(await registry.sessions.use(used), account, `day ${day}`);
    await registry.accounts.add("somebody@example.com");
  }
  clock.setWall(handClock().now() + 180 * DAY - 1000);
  assert.deepEqual(await registry.sessions.use(used), account);
  clock.setWall(clock.now() + 1000);
  assert.equal(await registry.sessions.use(used), null);
  assert.equal(await registry.purge(), 2);
  assert.equal(await registry.sessions.use("pts_nothing"), null);
});

test("no secret is in the file as it was given", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "hosted.db");
  const registry = openSqliteRegistry({
    path,
    clock: handClock(),
    random: systemRandom,
    sealer: () => plainSealer,
  });
  const { account } = await registry.accounts.add("ada@example.com");
  const token = await registry.sessions.add(account.id);
  const { id } = await registry.tenants.add({ kind: "box" });
  const pairing = { tenantId: id, accountId: account.id, boxAccountId: "box-0" };
  const first = await registry.pairings.first(pairing);
  assert.equal(first.kind, "paired");
  const secret = first.kind === "paired" ? first.credential.secret : "";
  await registry.apns.set({
    keyId: "K",
    teamId: "T",
    topic: "app",
    endpoint: "https://localhost",
    ca: null,
    key: "the private key",
  });
  registry.close();
  const file = readFileSync(path).toString("latin1");
  assert.ok(file.includes(sha256(token)));
  for (const text of [token, token.slice(4), secret, "the private key"]) {
    assert.ok(!file.includes(text));
  }
});

test("a device is a complete fresh report, stored in lower case", async (t) => {
  const { registry, clock } = hostedBench(t);
  const { account } = await registry.accounts.add("ada@example.com");
  const createdAt = Math.floor(clock.now() / 1000);
  const token = "AB".repeat(32);
  const device = { accountId: account.id, token, platform: "ios" };
  await registry.devices.put({ ...device, criticalAlerts: true });
  await clock.turn(5000);
  await registry.devices.put({ ...device, platform: "ipados", criticalAlerts: false });
  assert.deepEqual(await registry.devices.list(account.id), [
    {
      token: token.toLowerCase(),
      platform: "ipados",
      criticalAlerts: false,
      createdAt,
      lastSeenAt: createdAt + 5,
    },
  ]);
  assert.equal(await registry.devices.remove(account.id, token), true);
  assert.equal(await registry.devices.remove(account.id, token), false);
});

test("twenty devices an account, also when thirty come at once; a known one always", async (t) => {
  const bench = hostedBench(t);
  const { account } = await bench.registry.accounts.add("ada@example.com");
  const all = Array.from({ length: 30 }, (_, n) => addDevice(bench, account.id, n));
  const results = await Promise.all(all);
  assert.equal(results.filter((result) => result === "registered").length, 20);
  assert.equal(await addDevice(bench, account.id, 99), "too_many");
  assert.equal(await addDevice(bench, account.id, 0, true), "registered");
  const { account: other } = await bench.registry.accounts.add("bob@example.com");
  assert.equal(await addDevice(bench, other.id, 99), "registered");
  await bench.registry.devices.remove(account.id, deviceToken(0));
  assert.equal(await addDevice(bench, account.id, 99), "registered");
});

test("one account's signing out leaves the other account's row of the same handset", async (t) => {
  const bench = hostedBench(t);
  const { account: ada } = await bench.registry.accounts.add("ada@example.com");
  const { account: bob } = await bench.registry.accounts.add("bob@example.com");
  await addDevice(bench, ada.id, 1);
  await addDevice(bench, bob.id, 1);
  await bench.registry.devices.remove(bob.id, deviceToken(1));
  assert.equal((await bench.registry.devices.list(ada.id)).length, 1);
});

test("a hosted tenant's audience is its members", async (t) => {
  const bench = hostedBench(t);
  const { registry } = bench;
  const { id: tenantId } = await registry.tenants.add({ kind: "hosted" });
  const ids: string[] = [];
  for (const n of [0, 1, 2]) {
    const { account } = await registry.accounts.add(`p${n}@example.com`);
    await addDevice(bench, account.id, n);
    ids.push(account.id);
  }
  const [ada = "", bob = "", eve = ""] = ids;
  await registry.memberships.put({ tenantId, accountId: ada, role: "owner" });
  await registry.memberships.put({ tenantId, accountId: bob, role: "member" });
  const tokens = async (only: string[] | null) => {
    const found = await registry.devices.recipients({ tenantId, through: "memberships", only });
    return found.map((recipient) => recipient.token).sort();
  };
  assert.deepEqual(await tokens(null), [0, 1].map(deviceToken));
  assert.deepEqual(await tokens([bob, eve]), [deviceToken(1)]);
  await registry.memberships.put({ tenantId, accountId: bob, role: "admin" });
  const members = await registry.memberships.list(tenantId);
  assert.deepEqual(members.map((member) => [member.email, member.role]).sort(), [
    ["p0@example.com", "owner"],
    ["p1@example.com", "admin"],
  ]);
});

test("tenants: what the operator sets, pages of the list, and the next-due times", async (t) => {
  const { registry } = hostedBench(t);
  const { tenants } = registry;
  const made = [];
  for (let n = 0; n < 5; n++) made.push((await tenants.add({ kind: "hosted" })).id);
  made.sort();
  const page = await tenants.list({ after: made[1] ?? "", limit: 2 });
  assert.deepEqual(
    page.map((tenant) => tenant.id),
    made.slice(2, 4),
  );
  const [one = "", two = "", three = ""] = made;
  assert.equal(await tenants.set(one, { plan: "pro", watchSeconds: 0 }), true);
  const after = await tenants.get(one);
  assert.deepEqual([after?.plan, after?.watchSeconds, after?.boxUrl], ["pro", 0, null]);
  assert.equal(await tenants.set("0000000000000000", { plan: "pro" }), false);
  assert.equal(await tenants.nextDue(), null);
  await tenants.setNextDue(one, 300);
  await tenants.setNextDue(two, 100);
  await tenants.setNextDue(three, 301);
  assert.equal(await tenants.nextDue(), 100);
  assert.deepEqual(await tenants.due(300, 10), [two, one]);
  assert.deepEqual(await tenants.due(300, 1), [two]);
  await tenants.setNextDue(two, null);
  assert.deepEqual(await tenants.due(300, 10), [one]);
});

test("what the operator says of an address outranks what was announced before", async (t) => {
  const bench = hostedBench(t);
  const { tenants } = bench.registry;
  const { tenantId, credential } = await pairedBox(bench, 1);
  const relayKeyId = credential.keyId;
  const now = Math.floor(bench.clock.now() / 1000);
  await tenants.set(tenantId, { boxUrl: "https://set.example" });
  const from = { tenantId, relayKeyId };
  const news = { ...from, boxUrl: "https://told.example", boxTenantId: "b".repeat(16) };
  assert.equal(await tenants.announce({ ...news, stamp: now - 1 }), "old");
  assert.equal((await tenants.get(tenantId))?.boxUrl, "https://set.example");
  assert.equal(await tenants.announce({ ...news, stamp: now + 1 }), "told");
  const { id } = await tenants.add({ kind: "hosted" });
  assert.equal(await tenants.announce({ ...news, tenantId: id, stamp: now }), "revoked");
});

test("a relay secret that can't be unsealed is told apart from an unknown key", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const lost = { seal: plainSealer.seal, open: () => null };
  const options = { path: join(dir, "hosted.db"), clock: handClock(), random: systemRandom };
  const registry = openSqliteRegistry({ ...options, sealer: () => lost });
  t.after(() => registry.close());
  const { account } = await registry.accounts.add("ada@example.com");
  const { id: tenantId } = await registry.tenants.add({ kind: "box" });
  const pairing = { tenantId, accountId: account.id, boxAccountId: "box-0" };
  const first = await registry.pairings.first(pairing);
  const keyId = first.kind === "paired" ? first.credential.keyId : "";
  assert.deepEqual(await registry.relayKeys.find(keyId), { tenantId, secret: null });
  await registry.apns.set({
    keyId: "K",
    teamId: "T",
    topic: "app",
    endpoint: "https://localhost",
    ca: null,
    key: "key",
  });
  assert.deepEqual(await registry.apns.get(), { kind: "unreadable" });
});

test("changes of one turn share a commit, and one that throws is undone alone", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  const options = { path: join(dir, "hosted.db"), clock: handClock(), random: systemRandom };
  const store = openStore({ ...options, kind: "hosted" });
  t.after(() => {
    store.close();
    rmSync(dir, { recursive: true });
  });
  let commits = 0;
  store.onCommit(() => commits++);
  const write = groupWrites(store);
  const put = (key: string, fail = false) =>
    write((tx) => {
      tx.note({ topic: "people" });
      tx.sql("INSERT INTO meta (key, value) VALUES (?, 1)").run(key);
      if (fail) throw new Error(key);
      return key;
    });
  const results = await Promise.allSettled([put("a"), put("b", true), put("a"), put("c")]);
  assert.deepEqual(
    results.map((result) => result.status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  assert.equal(commits, 1);
  const keys = store.sql("SELECT key FROM meta ORDER BY key").pluck().all();
  assert.deepEqual(keys, ["a", "c"]);
});

test("a full disk refuses every change of the commit and the next one with room is taken", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  const options = { path: join(dir, "hosted.db"), clock: handClock(), random: systemRandom };
  const store = openStore({ ...options, kind: "hosted" });
  t.after(() => {
    store.close();
    rmSync(dir, { recursive: true });
  });
  const write = groupWrites(store);
  const put = (key: string, bytes: number) =>
    write((tx) => {
      tx.sql("INSERT INTO meta (key, value) VALUES (?, ?)").run(key, "x".repeat(bytes));
    });
  const pages = store.db.pragma("page_count", { simple: true }) as number;
  store.db.pragma(`max_page_count = ${pages + 2}`);
  const results = await Promise.allSettled([put("a", 10), put("b", 100_000), put("c", 10)]);
  const told = results.map((one) => (one.status === "rejected" ? one.reason.code : "kept"));
  assert.equal(told[1], "storage_full");
  const kept = store.sql("SELECT key FROM meta ORDER BY key").pluck().all();
  const promised = ["a", "b", "c"].filter((_, index) => told[index] === "kept");
  assert.deepEqual(kept, promised);
  store.db.pragma("max_page_count = 100000");
  await put("d", 100_000);
});
