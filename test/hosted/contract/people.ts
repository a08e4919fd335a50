import assert from "node:assert/strict";
import { sha256 } from "../../../src/ground/kit/ids.ts";
import { deviceToken } from "../../support/hosted.ts";
import { type ContractRegistry, contractBox, putDevice, together } from "./bench.ts";

const DAY = 86_400_000;
const apnsSettings = {
  keyId: "K",
  teamId: "T",
  topic: "app",
  endpoint: "https://localhost",
  ca: null,
  key: "the private key",
};

/** Accounts, sessions, pairings, keys and devices. */
export function peopleContract({ name, test, open }: ContractRegistry): void {
  test(`${name}: an email is one account, whatever its case`, async (t) => {
    const { registry } = await open(t);
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

  test(`${name}: an email is one account, in any encoding of its letters and at any node`, async (t) => {
    const bench = await open(t);
    const forms = ["zo\u{e9}@example.com", "zoe\u{301}@example.com"];
    const made = await together(bench, 8, (registry, n) =>
      registry.accounts.add(forms[n % 2] ?? ""),
    );
    assert.equal(new Set(made.map(({ account }) => account.id)).size, 1);
    assert.equal(made.filter(({ created }) => created).length, 1);
  });

  test(`${name}: a session ends after 30 idle days, and after 180 days in any case`, async (t) => {
    const { registry, clock } = await open(t);
    const started = clock.now();
    const until = (ms: number) => clock.turn(started + ms - clock.now());
    const { account } = await registry.accounts.add("ada@example.com");
    const idle = await registry.sessions.add(account.id);
    const used = await registry.sessions.add(account.id);
    assert.match(idle, /^pts_[0-9A-Za-z]{43}$/);
    await until(30 * DAY - 1000);
    assert.deepEqual(await registry.sessions.use(used), account);
    // The last use is stored with the next change at the latest.
    await registry.accounts.add("somebody@example.com");
    await until(30 * DAY);
    assert.equal(await registry.sessions.use(idle), null);
    for (let day = 50; day < 180; day += 20) {
      await until(day * DAY);
      assert.deepEqual(await registry.sessions.use(used), account, `day ${day}`);
      await registry.accounts.add("somebody@example.com");
    }
    await until(180 * DAY - 1000);
    assert.deepEqual(await registry.sessions.use(used), account);
    await until(180 * DAY);
    assert.equal(await registry.sessions.use(used), null);
    assert.equal(await registry.purge(), 2);
    assert.equal(await registry.sessions.use("pts_nothing"), null);
  });

  test(`${name}: no secret is stored as it was given`, async (t) => {
    const { registry, contents } = await open(t);
    const { account } = await registry.accounts.add("ada@example.com");
    const token = await registry.sessions.add(account.id);
    const { id } = await registry.tenants.add({ kind: "box" });
    const pairing = { tenantId: id, accountId: account.id, boxAccountId: "box-0" };
    const first = await registry.pairings.first(pairing);
    assert.ok(first.kind === "paired");
    const rotated = await registry.relayKeys.rotate({ tenantId: id, by: account.id });
    assert.ok(rotated.kind === "rotated");
    await registry.apns.set(apnsSettings);
    await registry.apns.keepToken({ version: 1, iat: 1, jwt: "a signed token", instead: null });
    const stored = await contents();
    assert.ok(stored.includes(sha256(token)));
    const secrets = [first.credential.secret, rotated.credential.secret, "a signed token"];
    for (const text of [token, token.slice(4), ...secrets, "the private key"])
      assert.ok(!stored.includes(text));
  });

  test(`${name}: a secret that can't be unsealed is told apart from an unknown key`, async (t) => {
    const { registry, keyless } = await open(t);
    const { tenantId, relayKeyId } = await contractBox(registry);
    await registry.apns.set(apnsSettings);
    await registry.apns.keepToken({ version: 1, iat: 7, jwt: "j", instead: null });
    const node = await keyless();
    assert.deepEqual(await node.relayKeys.find(relayKeyId), { tenantId, secret: null });
    assert.deepEqual(await node.apns.get(), { kind: "unreadable" });
    assert.deepEqual((await node.apns.token()).token, { iat: 7, jwt: null });
  });

  test(`${name}: a name with a character that no database stores is unknown, and causes no error`, async (t) => {
    const { registry } = await open(t);
    const { tenantId, accounts } = await contractBox(registry);
    const [odd, by = ""] = ["a\0b", accounts[0]];
    assert.equal(await registry.accounts.get(odd), null);
    assert.equal(await registry.accounts.byEmail(odd), null);
    assert.equal(await registry.tenants.get(odd), null);
    assert.equal(await registry.memberships.role(odd, by), null);
    assert.equal((await registry.relayKeys.find(odd)).tenantId, null);
    assert.equal(await registry.devices.remove(by, odd), false);
    assert.equal(await registry.reportLinks.find(odd), null);
    assert.deepEqual(await registry.pairings.list(odd), []);
    const revoke = registry.pairings.revoke({ tenantId, accountId: odd, by });
    assert.deepEqual(await revoke, { kind: "not_found" });
    const key = { tenantId, alertId: odd, event: odd, timestamp: 1 };
    assert.equal((await registry.claims.take(key, { relayKeyId: null })).kind, "taken");
    assert.equal((await registry.claims.take(key, { relayKeyId: null })).kind, "in_flight");
    const pairing = { tenantId, accountId: by, boxAccountId: odd, boxTenantId: "b" };
    assert.equal(await registry.pairings.isPaired(pairing), true);
    const { account } = await registry.accounts.add("eve@example.com");
    const later = await registry.pairings.later({ ...pairing, accountId: account.id });
    assert.equal(later.kind, "paired");
  });

  test(`${name}: of several first pairings at once one succeeds, and its account owns the tenant`, async (t) => {
    const bench = await open(t);
    const { registry } = bench;
    const { id: tenantId } = await registry.tenants.add({ kind: "box" });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++)
      ids.push((await registry.accounts.add(`p${n}@example.com`)).account.id);
    const tried = await together(bench, 8, (node, n) =>
      node.pairings.first({ tenantId, accountId: ids[n] ?? "", boxAccountId: `b${n}` }),
    );
    const won = tried.findIndex(({ kind }) => kind === "paired");
    assert.equal(tried.filter(({ kind }) => kind === "receipt_needed").length, 7);
    assert.equal(await registry.memberships.role(tenantId, ids[won] ?? ""), "owner");
    assert.equal((await registry.pairings.list(tenantId)).length, 1);
    const first = tried[won];
    assert.ok(first?.kind === "paired");
    const { keyId, secret } = first.credential;
    for (const node of bench.nodes)
      assert.deepEqual(await node.relayKeys.find(keyId), { tenantId, secret });
    assert.equal((await registry.relayKeys.find("rk_0000000000000000")).tenantId, null);
  });

  test(`${name}: only the account that a tenant is reserved for may pair first, and none with a tenant without a box`, async (t) => {
    const { registry } = await open(t);
    const { account: ada } = await registry.accounts.add("ada@example.com");
    const { account: eve } = await registry.accounts.add("eve@example.com");
    const waits = await registry.tenants.add({ kind: "box", ownerEmail: " ADA@example.com" });
    const first = (tenantId: string, accountId: string) =>
      registry.pairings.first({ tenantId, accountId, boxAccountId: "b" });
    assert.deepEqual(await first(waits.id, eve.id), { kind: "not_found" });
    assert.deepEqual(await first("0000000000000000", ada.id), { kind: "not_found" });
    assert.deepEqual(await first(waits.id, "0000000000000000"), { kind: "not_found" });
    const hosted = await registry.tenants.add({ kind: "hosted" });
    assert.deepEqual(await first(hosted.id, ada.id), { kind: "hosted" });
    assert.equal((await first(waits.id, ada.id)).kind, "paired");
  });

  test(`${name}: an account and a box account have one live pairing, also with many tries at once`, async (t) => {
    const bench = await open(t);
    const { registry, clock } = bench;
    const { tenantId, accounts } = await contractBox(registry);
    const { account: bob } = await registry.accounts.add("bob@example.com");
    const pairing = { tenantId, accountId: bob.id, boxAccountId: "box-bob", boxTenantId: "b0" };
    const tried = await together(bench, 6, (node) => node.pairings.later(pairing));
    assert.deepEqual(tried.map(({ kind }) => kind).sort(), [
      ...Array(5).fill("already_paired"),
      "paired",
    ]);
    assert.equal(await registry.memberships.role(tenantId, bob.id), "member");
    assert.equal(await registry.pairings.isPaired({ ...pairing, accountId: "nobody" }), true);
    assert.equal((await registry.tenants.get(tenantId))?.boxTenantId, "b0");
    const { account: eve } = await registry.accounts.add("eve@example.com");
    const other = { ...pairing, accountId: eve.id };
    assert.equal((await registry.pairings.later(other)).kind, "already_paired");
    const elsewhere = { ...other, boxAccountId: "box-eve", boxTenantId: "other" };
    assert.equal((await registry.pairings.later(elsewhere)).kind, "other_box");

    const revoke = (by: string, accountId: string) => ({ tenantId, accountId, by });
    const [owner = ""] = accounts;
    assert.equal((await registry.pairings.revoke(revoke("nobody", bob.id))).kind, "not_found");
    assert.equal((await registry.pairings.revoke(revoke(bob.id, owner))).kind, "not_allowed");
    assert.equal((await registry.pairings.revoke(revoke(owner, eve.id))).kind, "not_found");
    const ended = await together(bench, 4, (node) => node.pairings.revoke(revoke(owner, bob.id)));
    assert.equal(ended.filter((one) => one.kind === "revoked" && one.now).length, 1);
    assert.equal(ended.filter((one) => one.kind === "revoked").length, 4);
    assert.equal((await registry.pairings.later(pairing)).kind, "paired");
    const at = Math.floor(clock.now() / 1000);
    assert.deepEqual(
      (await registry.pairings.list(tenantId)).map((one) => [
        one.accountId,
        one.boxAccountId,
        one.createdAt,
        one.revokedAt,
      ]),
      [
        [owner, "box-0", at, null],
        [bob.id, "box-bob", at, at],
        [bob.id, "box-bob", at, null],
      ],
    );
    // The earlier pairing counts: a later first pairing needs a receipt.
    await registry.pairings.revoke(revoke(owner, owner));
    const again = { tenantId, accountId: owner, boxAccountId: "box-0" };
    assert.equal((await registry.pairings.first(again)).kind, "receipt_needed");
  });

  test(`${name}: of keys that are rotated at once one is live, at every node`, async (t) => {
    const bench = await open(t);
    const { registry } = bench;
    const { tenantId, relayKeyId, accounts } = await contractBox(registry, 2);
    for (const node of bench.nodes)
      assert.equal((await node.relayKeys.find(relayKeyId)).tenantId, tenantId);
    const [owner = "", member = ""] = accounts;
    assert.equal((await registry.relayKeys.rotate({ tenantId, by: member })).kind, "not_owner");
    assert.equal((await registry.relayKeys.rotate({ tenantId, by: "x" })).kind, "not_found");
    const made = await together(bench, 6, (node) => node.relayKeys.rotate({ tenantId, by: owner }));
    const ids = made.map((one) => (one.kind === "rotated" ? one.credential.keyId : ""));
    const live: string[] = [];
    for (const id of [relayKeyId, ...ids]) {
      const key = { tenantId, alertId: id, event: "e", timestamp: 1 };
      const taken = await together(bench, 2, (node) => node.claims.take(key, { relayKeyId: id }));
      if (taken.some(({ kind }) => kind === "taken")) live.push(id);
      else assert.deepEqual(taken, [{ kind: "revoked" }, { kind: "revoked" }]);
    }
    assert.equal(live.length, 1);
    assert.notEqual(live[0], relayKeyId);
  });

  test(`${name}: registering a device replaces what is stored, in lower case`, async (t) => {
    const { registry, clock } = await open(t);
    const { account } = await registry.accounts.add("ada@example.com");
    const token = "AB".repeat(32);
    const createdAt = Math.floor(clock.now() / 1000);
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

  test(`${name}: an account has at most twenty devices, also when thirty register at once; a known one can always register`, async (t) => {
    const bench = await open(t);
    const { registry } = bench;
    const { account } = await registry.accounts.add("ada@example.com");
    const results = await together(bench, 30, (node, n) => putDevice(node, account.id, n));
    assert.equal(results.filter((result) => result === "registered").length, 20);
    const known = (await registry.devices.list(account.id)).map(({ token }) => token);
    assert.equal(await putDevice(registry, account.id, 99), "too_many");
    const again = { accountId: account.id, token: known[0] ?? "", platform: "ios" };
    assert.equal(await registry.devices.put({ ...again, criticalAlerts: true }), "registered");
    const { account: other } = await registry.accounts.add("bob@example.com");
    assert.equal(await putDevice(registry, other.id, 99), "registered");
    await registry.devices.remove(account.id, known[0] ?? "");
    assert.equal(await putDevice(registry, account.id, 99), "registered");
    await registry.devices.remove(account.id, deviceToken(99));
    assert.equal((await registry.devices.list(other.id)).length, 1);
  });

  test(`${name}: recipients are people with a live pairing, each phone once, without those set aside`, async (t) => {
    const { registry, clock } = await open(t);
    const box = await contractBox(registry, 3);
    const [ada = "", bob = "", eve = ""] = box.accounts;
    await putDevice(registry, ada, 1);
    await putDevice(registry, bob, 1, true);
    await putDevice(registry, bob, 2);
    await putDevice(registry, eve, 3);
    const { tenantId } = box;
    const who = async (only: string[] | null) => {
      const found = await registry.devices.recipients({ tenantId, through: "pairings", only });
      return found.recipients
        .map(({ token, criticalAlerts }) => [Number(`0x${token}`), criticalAlerts])
        .sort();
    };
    assert.deepEqual(await who(null), [
      [1, true],
      [2, false],
      [3, false],
    ]);
    assert.deepEqual(await who(["box-0", "box-2", "box-9"]), [
      [1, false],
      [3, false],
    ]);
    await registry.pairings.revoke({ tenantId, accountId: eve, by: eve });
    assert.deepEqual(await who(null), [
      [1, true],
      [2, false],
    ]);
    const audience = { tenantId, through: "pairings", only: null } as const;
    assert.equal(await registry.devices.isRecipient(audience, deviceToken(3)), false);

    const { atMs: readAtMs } = await registry.devices.recipients(audience);
    assert.equal(readAtMs, clock.now());
    await clock.turn(1000);
    await putDevice(registry, ada, 1);
    const bad = [deviceToken(1), deviceToken(2)];
    const gone = [{ token: deviceToken(3), atMs: readAtMs + 3_600_000 }];
    await registry.devices.retire({ readAtMs, gone, bad });
    // Ada's registered again, so the verdict is too old.
    assert.deepEqual(await who(null), [[1, false]]);
    assert.deepEqual(await registry.devices.list(eve), []);
    await putDevice(registry, bob, 2);
    assert.equal(await registry.devices.isRecipient(audience, deviceToken(2)), true);
    const old = [{ token: deviceToken(2), atMs: clock.now() - 1 }];
    await registry.devices.retire({ readAtMs: clock.now(), gone: old, bad: [] });
    assert.equal((await registry.devices.list(bob)).length, 2);
  });

  test(`${name}: a hosted tenant's audience is its members`, async (t) => {
    const { registry } = await open(t);
    const { id: tenantId } = await registry.tenants.add({ kind: "hosted" });
    const ids: string[] = [];
    for (const n of [0, 1, 2]) {
      const { account } = await registry.accounts.add(`p${n}@example.com`);
      await putDevice(registry, account.id, n);
      ids.push(account.id);
    }
    const [ada = "", bob = "", eve = ""] = ids;
    await registry.memberships.put({ tenantId, accountId: ada, role: "owner" });
    await registry.memberships.put({ tenantId, accountId: bob, role: "member" });
    const tokens = async (only: string[] | null) => {
      const found = await registry.devices.recipients({ tenantId, through: "memberships", only });
      return found.recipients.map((recipient) => recipient.token).sort();
    };
    assert.deepEqual(await tokens(null), [0, 1].map(deviceToken));
    assert.deepEqual(await tokens([bob, eve]), [deviceToken(1)]);
    await registry.memberships.put({ tenantId, accountId: bob, role: "admin" });
    const members = await registry.memberships.list(tenantId);
    assert.deepEqual(members.map((member) => [member.email, member.role]).sort(), [
      ["p0@example.com", "owner"],
      ["p1@example.com", "admin"],
    ]);
    assert.equal(await registry.memberships.role(tenantId, eve), null);
  });
}
