import assert from "node:assert/strict";
import test from "node:test";
import type { Role } from "../../../src/ground/store/columns.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import type { Person } from "../../support/box.ts";

const ranks: readonly Role[] = ["owner", "admin", "member"];

const roleOf = (app: TestApp, { accountId }: Person) =>
  app.tenant.store.sql("SELECT role FROM accounts WHERE id = ?").pluck().get(accountId);

const change = async (app: TestApp, by: Person, whom: Person, body: object) =>
  (await app.call("PATCH", `/v1/accounts/${whom.accountId}`, { key: by.key, body })).status;

const remove = async (app: TestApp, by: Person, whom: Person) =>
  (await app.call("DELETE", `/v1/accounts/${whom.accountId}`, { key: by.key })).status;

const keyIds = (app: TestApp, { accountId }: Person) =>
  app.tenant.store
    .sql("SELECT id FROM api_keys WHERE account_id = ?")
    .pluck()
    .all(accountId) as string[];

const revoke = async (app: TestApp, by: Person, id: string | undefined) =>
  (await app.call("DELETE", `/v1/keys/${id}`, { key: by.key })).status;

test("any key reads the accounts; one that isn't there is 404", async (t) => {
  const app = testApp(t);
  const [owner, member] = [app.person("owner", "z@example.org"), app.person("member")];
  const { body } = await app.call("GET", "/v1/accounts", { key: member.key });
  const emails = body.accounts.map(({ email }: { email: string }) => email);
  assert.deepEqual(emails, ["member@example.org", "z@example.org"]);
  assert.deepEqual(body.accounts[1], {
    id: owner.accountId,
    email: "z@example.org",
    display_name: "z@example.org",
    role: "owner",
    timezone: null,
    created_at: app.clock.now() / 1000,
  });
  const one = await app.call("GET", `/v1/accounts/${owner.accountId}`, { key: member.key });
  assert.deepEqual(one.body, body.accounts[1]);
  const none = await app.call("GET", "/v1/accounts/z@example.org", { key: member.key });
  assert.deepEqual([none.status, none.body.error.code], [404, "not_found"]);
});

test("who may change and remove whom, and up to which role", async (t) => {
  const app = testApp(t);
  app.person("owner", "stays@example.org");
  for (const by of ranks) {
    for (const whom of ranks) {
      const governs = by === "owner" || (by === "admin" && whom !== "owner");
      const caller = app.person(by, `caller-${by}-${whom}@example.org`);
      const name = `${by} on ${whom}`;
      for (const to of ranks) {
        const target = app.person(whom, `${by}-${whom}-${to}@example.org`);
        const may = governs && (by === "owner" || to !== "owner");
        assert.equal(await change(app, caller, target, { role: to }), may ? 200 : 403, name);
        assert.equal(roleOf(app, target), may ? to : whom, `${name} to ${to}`);
      }
      const target = app.person(whom, `${by}-${whom}@example.org`);
      const status = governs ? 200 : 403;
      assert.equal(await change(app, caller, target, { display_name: "New" }), status, name);
      assert.equal(await revoke(app, caller, keyIds(app, target)[0]), status, name);
      assert.equal(await remove(app, caller, target), status, name);
    }
  }
});

test("a changed role holds from the next request on", async (t) => {
  const app = testApp(t);
  const [owner, admin] = [app.person("owner"), app.person("admin")];
  const issue = async () =>
    (await app.call("POST", "/v1/pair/codes", { key: admin.key, body: {} })).status;
  assert.equal(await issue(), 201);
  assert.equal(await change(app, owner, admin, { role: "member" }), 200);
  assert.equal(await issue(), 403);
});

test("an account as it was read can be sent back; other fields are refused", async (t) => {
  const app = testApp(t);
  const owner = app.person("owner");
  const { body } = await app.call("GET", "/v1/me", { key: owner.key });
  const path = `/v1/accounts/${owner.accountId}`;
  const answer = await app.call("PATCH", path, { key: owner.key, body: body.account });
  assert.deepEqual([answer.status, answer.body], [200, body.account]);
  const bad = [{ password: "x" }, { role: "king" }, { display_name: "x".repeat(129) }];
  for (const body of bad) assert.equal(await change(app, owner, owner, body), 400);
  assert.equal(await change(app, owner, owner, {}), 200);
});

test("the last owner is neither demoted, removed nor stripped of every key", async (t) => {
  const app = testApp(t);
  const owner = app.person("owner");
  app.person("admin");
  const path = `/v1/accounts/${owner.accountId}`;
  const refused = await app.call("DELETE", path, { key: owner.key });
  assert.deepEqual([refused.status, refused.body.error.code], [409, "last_owner"]);
  assert.equal(await change(app, owner, owner, { role: "admin" }), 409);
  assert.equal(await revoke(app, owner, keyIds(app, owner)[0]), 409);
  assert.equal(await change(app, owner, owner, { role: "owner", display_name: "Me" }), 200);

  const second = app.person("owner", "second@example.org");
  assert.equal(await revoke(app, owner, keyIds(app, second)[0]), 200);
  // An owner without a key can't help: the one with a key is still the last.
  assert.equal(await revoke(app, owner, keyIds(app, owner)[0]), 409);
  assert.equal(await change(app, owner, owner, { role: "admin" }), 409);
  assert.equal(await remove(app, owner, owner), 409);
  assert.equal(await remove(app, owner, second), 200);
  assert.equal(roleOf(app, owner), "owner");
});

test("two owners can't demote each other both", async (t) => {
  const app = testApp(t);
  const [a, b] = [app.person("owner", "a@example.org"), app.person("owner", "b@example.org")];
  const statuses = await Promise.all([
    change(app, a, b, { role: "member" }),
    change(app, b, a, { role: "member" }),
  ]);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal([roleOf(app, a), roleOf(app, b)].filter((role) => role === "owner").length, 1);
});

test("an account that ladders, schedules or overrides name stays, and the answer names them", async (t) => {
  const app = testApp(t);
  const [owner, named] = [app.person("owner"), app.person("member")];
  const { key } = owner;
  const now = app.clock.now() / 1000;
  await app.call("POST", "/v1/projects", { key, body: { name: "shop" } });
  const escalations = [{ accounts: [] }, { accounts: [owner.accountId, named.accountId] }];
  const rule = { name: "errors", escalations };
  assert.equal(
    (await app.call("POST", "/v1/projects/shop/rules", { key, body: rule })).status,
    201,
  );
  app.tenant.store.write((tx) => {
    const layers = [{ participants: [] }, { participants: [owner.accountId, named.accountId] }];
    const insert = tx.sql(
      "INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at) VALUES (?, 1, ?, 'UTC', ?, 0, 0)",
    );
    insert.run("s1", "first line", JSON.stringify(layers));
    insert.run("s2", "second line", "[]");
    const override = tx.sql("INSERT INTO overrides VALUES (?, 's2', ?, ?, ?, 0, '')");
    override.run("future", named.accountId, now + 50, now + 60);
    override.run("current", named.accountId, now - 1, now + 1);
    override.run("past", named.accountId, now - 60, now);
  });
  const path = `/v1/accounts/${named.accountId}`;
  const refused = await app.call("DELETE", path, { key });
  assert.deepEqual([refused.status, refused.body.error.code], [409, "account_in_use"]);
  assert.deepEqual(refused.body.error.details, [
    { reason: "named_by_override", value: "shop/second line/current" },
    { reason: "named_by_override", value: "shop/second line/future" },
    { reason: "named_by_rule", value: "shop/errors" },
    { reason: "named_by_schedule", value: "shop/first line" },
  ]);
  await app.call("DELETE", "/v1/projects/shop/rules/errors", { key });
  app.tenant.store.write((tx) => tx.sql("UPDATE schedules SET layers = '[]'").run());
  await app.clock.turn(59_000);
  assert.equal(await remove(app, owner, named), 409);
  await app.clock.turn(1_000);
  assert.equal(await remove(app, owner, named), 200);
});

test("a removed account's keys open nothing, and its devices are gone", async (t) => {
  const app = testApp(t);
  const [owner, member] = [app.person("owner"), app.person("member")];
  const device = { token: "a".repeat(64), platform: "ios" };
  await app.call("POST", "/v1/devices", { key: member.key, body: device });
  assert.equal(await remove(app, owner, member), 200);
  assert.equal((await app.call("GET", "/v1/me", { key: member.key })).status, 401);
  assert.equal(await remove(app, owner, member), 404);
  const left = app.tenant.store.sql("SELECT count(*) FROM devices").pluck().get();
  assert.equal(left, 0);
});

test("one's own keys for a member, everybody's for a manager, never a key itself", async (t) => {
  const app = testApp(t);
  const people = ranks.map((rank) => app.person(rank));
  const keys = async (key: string) =>
    (await app.call("GET", "/v1/keys", { key })).body.keys as Record<string, unknown>[];
  const [owner, admin, member] = people as [Person, Person, Person];
  assert.equal((await keys(owner.key)).length, 3);
  assert.equal((await keys(admin.key)).length, 3);
  const mine = await keys(member.key);
  assert.deepEqual(mine, [
    {
      id: keyIds(app, member)[0],
      account_id: member.accountId,
      label: "",
      hint: member.key.slice(-4),
      created_at: app.clock.now() / 1000,
      last_used_at: app.clock.now() / 1000,
    },
  ]);
});

test("a member revokes their own keys and nobody else's", async (t) => {
  const app = testApp(t);
  const [owner, member] = [app.person("owner"), app.person("member")];
  assert.equal(await revoke(app, member, keyIds(app, owner)[0]), 403);
  assert.equal(await revoke(app, member, "0000000000000000"), 404);
  assert.equal(await revoke(app, member, keyIds(app, member)[0]), 200);
  assert.equal((await app.call("GET", "/v1/me", { key: member.key })).status, 401);
});
