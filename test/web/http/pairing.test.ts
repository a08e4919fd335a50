import assert from "node:assert/strict";
import test from "node:test";
import type { Role } from "../../../src/ground/store/columns.ts";
import { changeAccount, removeAccount } from "../../../src/people/accounts.ts";
import { issueCode, revokeCode } from "../../../src/people/codes.ts";
import { cheapPasswords, type TestApp, testApp } from "../../support/app.ts";
import type { Answer } from "../../support/box.ts";

const ranks: readonly Role[] = ["owner", "admin", "member"];

/** A code as the operator at the data directory issues it. */
function operatorCode(app: TestApp, role: Role = "member", email: string | null = null): string {
  return app.tenant.store.write((tx) => issueCode(tx, null, { role, email, ttlSeconds: 3600 }))
    .code;
}

const claim = (code: string, more: object = {}) => ({
  body: { code, email: "ann@example.org", password: "correct horse", ...more },
});

function pair(app: TestApp, code: string, more: object = {}): Promise<Answer> {
  return app.call("POST", "/v1/pair", claim(code, more));
}

async function issue(app: TestApp, key: string, body: object = {}): Promise<Answer> {
  return app.call("POST", "/v1/pair/codes", { key, body });
}

/** All of an answer but what differs by nature. */
function seen({ status, headers, body }: Answer): string {
  const kept = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
  return JSON.stringify({ status, headers: kept.sort(), body });
}

test("a code makes an account, a key that opens the API and a receipt that is good once", async (t) => {
  const app = testApp(t);
  const answer = await pair(app, operatorCode(app, "owner"), { display_name: "Ann" });
  assert.equal(answer.status, 200);
  const keys = ["api_key", "api_key_id", "box_account_id", "receipt", "tenant_id"];
  assert.deepEqual(Object.keys(answer.body).sort(), keys);
  assert.match(answer.body.api_key, new RegExp(`^ptk_${app.tenant.id}_[0-9A-Za-z]{43}$`));
  assert.match(answer.body.receipt, /^[0-9a-f]{48}$/);
  assert.equal(answer.headers.get("cache-control"), "no-store");

  const me = await app.call("GET", "/v1/me", { key: answer.body.api_key });
  const account = {
    id: answer.body.box_account_id,
    email: "ann@example.org",
    display_name: "Ann",
    role: "owner",
    timezone: null,
    created_at: app.clock.now() / 1000,
  };
  const { api_key_id: key_id, tenant_id } = answer.body;
  assert.deepEqual(me.body, { account, key_id, tenant_id });

  const verify = `/v1/pair/verify?receipt=${answer.body.receipt}`;
  const first = await app.call("GET", verify);
  const { box_account_id } = answer.body;
  assert.deepEqual([first.status, first.body], [200, { box_account_id, tenant_id }]);
  assert.equal(first.headers.get("cache-control"), "no-store");
  assert.equal((await app.call("GET", verify)).status, 400);
});

test("secrets are at rest as hashes only", async (t) => {
  const app = testApp(t);
  const code = operatorCode(app, "owner");
  const { body } = await pair(app, code);
  const rows = ["accounts", "api_keys", "pair_codes", "pair_receipts"].flatMap((table) =>
    app.tenant.store.sql(`SELECT * FROM ${table}`).all(),
  );
  const text = JSON.stringify(rows);
  for (const secret of [code, body.api_key, body.receipt, "correct horse"])
    assert.ok(!text.includes(secret));
});

test("of 100 parallel redemptions of one code exactly one succeeds", async (t) => {
  const app = testApp(t);
  const code = operatorCode(app);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => pair(app, code, { email: `p${i % 50}@example.org` })),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 401).length, 99);
  const count = (table: string) =>
    app.tenant.store.sql(`SELECT count(*) FROM ${table}`).pluck().get();
  assert.deepEqual(["accounts", "api_keys", "pair_receipts"].map(count), [1, 1, 1]);
});

test("of 100 parallel verifies of one receipt exactly one succeeds", async (t) => {
  const app = testApp(t);
  const { receipt } = (await pair(app, operatorCode(app))).body;
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => app.call("GET", `/v1/pair/verify?receipt=${receipt}`)),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  const refused = answers.filter(({ status }) => status === 400);
  assert.equal(refused.length, 99);
  assert.equal(new Set(refused.map(seen)).size, 1);
});

test("every failed redemption is the same bytes, and none spends the code", async (t) => {
  const app = testApp(t, { rates: { pair: 1000 } });
  const admin = app.person("admin");
  await pair(app, operatorCode(app), { email: "has@example.org", password: "the right one" });
  const usedCode = operatorCode(app);
  await pair(app, usedCode, { email: "used@example.org" });
  const expired = operatorCode(app);
  await app.clock.turn(3600_000);
  const bound = operatorCode(app, "member", "bound@example.org");
  const open = operatorCode(app);
  const issued = (await issue(app, admin.key, { role: "admin" })).body;
  const revoked = (await issue(app, admin.key)).body;
  await app.call("DELETE", `/v1/pair/codes/${revoked.id}`, { key: admin.key });
  app.tenant.store.write((tx) => changeAccount(tx, null, { id: admin.accountId, role: "member" }));

  const failures: Record<string, () => Promise<Answer>> = {
    unknown: () => pair(app, "0".repeat(48)),
    "no hex": () => pair(app, "~".repeat(48)),
    "upper case": () => pair(app, open.toUpperCase()),
    used: () => pair(app, usedCode),
    expired: () => pair(app, expired),
    revoked: () => pair(app, revoked.code),
    "issuer demoted": () => pair(app, issued.code),
    "another's email": () => pair(app, bound),
    "wrong password": () => pair(app, open, { email: "has@example.org" }),
    "no email": () => pair(app, open, { email: undefined }),
  };
  const answers: string[] = [];
  for (const [name, attempt] of Object.entries(failures)) {
    await app.clock.turn(60_000);
    const answer = await attempt();
    assert.equal(answer.status, 401, name);
    answers.push(seen(answer));
  }
  assert.equal(new Set(answers).size, 1, answers.join("\n"));
  const { error } = JSON.parse(answers[0] ?? "").body;
  assert.equal(error.code, "pairing_refused");
  assert.equal(error.request_id, undefined);

  assert.equal((await pair(app, bound, { email: "Bound@Example.org" })).status, 200);
  assert.equal((await pair(app, open)).status, 200);
});

test("every failed redemption does one argon2, and so does a success", async (t) => {
  const real = cheapPasswords();
  let work = 0;
  const app = testApp(t, {
    passwords: {
      hash: (password) => real.hash(password).finally(() => work++),
      verify: (password, phc) => real.verify(password, phc).finally(() => work++),
    },
  });
  const used = operatorCode(app);
  const attempts: [string, object, number][] = [
    [used, {}, 200],
    [used, {}, 401],
    ["0".repeat(48), {}, 401],
    [operatorCode(app), { password: "another one" }, 401],
    [operatorCode(app), {}, 200],
    [operatorCode(app, "member", "bound@example.org"), {}, 401],
    [operatorCode(app), { email: undefined }, 401],
  ];
  for (const [code, more, status] of attempts) {
    work = 0;
    assert.deepEqual([(await pair(app, code, more)).status, work], [status, 1]);
  }
});

test("misshapen requests are 400 and tell nothing of the code", async (t) => {
  const app = testApp(t);
  const code = operatorCode(app);
  const bad: [object, string][] = [
    [{ code: code.slice(1) }, "/code"],
    [{ code: undefined }, "/code"],
    [{ password: undefined }, "/password"],
    [{ password: "seven77" }, "/password"],
    [{ password: "x".repeat(73) }, "/password"],
    [{ email: "no email" }, "/email"],
    [{ email: "" }, "/email"],
    [{ email: `${"x".repeat(65)}@example.org` }, "/email"],
    [{ email: "a@b\u202e.org" }, "/email"],
    [{ display_name: "x".repeat(129) }, "/display_name"],
    [{ extra: 1 }, "/extra"],
  ];
  for (const [more, field] of bad) {
    const answer = await pair(app, code, more);
    assert.equal(answer.status, 400, JSON.stringify(more));
    assert.equal(answer.body.error.details[0].field, field);
  }
  const long = { email: `${"x".repeat(64)}@${"y".repeat(255)}`, password: "é".repeat(72) };
  assert.equal((await pair(app, code, { ...long, display_name: "x".repeat(128) })).status, 200);
});

test("an email that has an account needs its password, keeps the higher role and gets one more key", async (t) => {
  const app = testApp(t);
  const first = (await pair(app, operatorCode(app, "owner"))).body;
  const second = (await pair(app, operatorCode(app, "member"), { email: "ANN@example.ORG" })).body;
  assert.equal(second.box_account_id, first.box_account_id);
  assert.notEqual(second.api_key, first.api_key);
  const me = async (key: string) => (await app.call("GET", "/v1/me", { key })).body.account;
  assert.equal((await me(second.api_key)).role, "owner");
  assert.equal((await me(first.api_key)).email, "ann@example.org");

  const other = { email: "bob@example.org" };
  const bob = (await pair(app, operatorCode(app, "member"), other)).body;
  await pair(app, operatorCode(app, "admin"), { ...other, display_name: "someone else" });
  const now = await me(bob.api_key);
  assert.deepEqual([now.role, now.display_name], ["admin", "bob"]);
});

test("an account that appears while the password is worked on is not taken over", async (t) => {
  const app = testApp(t);
  const codes = [operatorCode(app), operatorCode(app)] as const;
  const passwords = ["the first one", "the second one"] as const;
  const claims = codes.map((code, i) => pair(app, code, { password: passwords[i] }));
  const [first, second] = (await Promise.all(claims)) as [Answer, Answer];
  assert.deepEqual([first.status, second.status], [200, 401]);
  assert.equal((await pair(app, codes[1], { password: passwords[1] })).status, 401);
  const again = await pair(app, codes[1], { password: passwords[0] });
  assert.deepEqual(
    [again.status, again.body.box_account_id],
    [200, first.body.box_account_id],
    "the refused one has spent nothing",
  );
});

test("what changes while the password is worked on is seen", async (t) => {
  const passwords = cheapPasswords();
  let meanwhile: () => void | Promise<void> = () => {};
  const app = testApp(t, {
    passwords: {
      hash: (password) => passwords.hash(password).finally(() => meanwhile()),
      verify: (password, phc) => passwords.verify(password, phc).finally(() => meanwhile()),
    },
  });
  const admin = app.person("admin");
  const { code, id } = (await issue(app, admin.key)).body;
  const demote = (role: Role) =>
    app.tenant.store.write((tx) => changeAccount(tx, null, { id: admin.accountId, role }));
  meanwhile = () => void demote("member");
  assert.equal((await pair(app, code)).status, 401);
  demote("admin");
  meanwhile = () => app.tenant.store.write((tx) => revokeCode(tx, id));
  assert.equal((await pair(app, code)).status, 401);
  const late = operatorCode(app);
  meanwhile = () => app.clock.turn(3600_000);
  assert.equal((await pair(app, late)).status, 401);
});

test("a code bound to an email needs none in the request", async (t) => {
  const app = testApp(t);
  const code = operatorCode(app, "member", "Bound@example.org");
  const { body, status } = await pair(app, code, { email: undefined });
  assert.equal(status, 200);
  const me = await app.call("GET", "/v1/me", { key: body.api_key });
  assert.equal(me.body.account.email, "Bound@example.org");
});

test("who may issue which role, and that it still holds when the code is redeemed", async (t) => {
  const app = testApp(t);
  app.person("owner", "another@example.org");
  for (const issuer of ranks) {
    for (const role of ranks) {
      const may = issuer === "owner" || (issuer === "admin" && role !== "owner");
      const name = `${issuer} issues ${role}`;
      const person = app.person(issuer, `${issuer}-${role}@example.org`);
      const { status, body } = await issue(app, person.key, { role });
      assert.equal(status, may ? 201 : 403, name);
      if (!may) continue;
      for (const later of ranks) {
        const again = (await issue(app, person.key, { role })).body;
        const email = `${later}-${issuer}-${role}@example.net`;
        const { accountId: id } = person;
        app.tenant.store.write((tx) => changeAccount(tx, null, { id, role: later }));
        const stillMay = later === "owner" || (later === "admin" && role !== "owner");
        const answer = await pair(app, again.code, { email });
        assert.equal(answer.status, stillMay ? 200 : 401, `${name}, then is ${later}`);
        app.tenant.store.write((tx) => changeAccount(tx, null, { id, role: issuer }));
      }
      const joined = (await pair(app, body.code, { email: `${issuer}-${role}@example.com` })).body;
      const me = await app.call("GET", "/v1/me", { key: joined.api_key });
      assert.equal(me.body.account.role, role);
    }
  }
});

test("a code falls with the account that issued it, and with the one it waits for", async (t) => {
  const app = testApp(t);
  const owner = app.person("owner");
  const admin = app.person("admin");
  const issued = (await issue(app, admin.key)).body;
  const waiting = (await issue(app, owner.key, { email: "Admin@example.org" })).body;
  app.tenant.store.write((tx) => removeAccount(tx, null, admin.accountId));
  const listed = await app.call("GET", "/v1/pair/codes", { key: owner.key });
  assert.deepEqual(listed.body, { codes: [] });
  assert.equal((await pair(app, issued.code)).status, 401);
  assert.equal((await pair(app, waiting.code, { email: "admin@example.org" })).status, 401);
});

test("the answer to an issued code, and what managers see of it", async (t) => {
  const app = testApp(t);
  const { key, accountId } = app.person("owner");
  const now = app.clock.now() / 1000;
  const { status, body } = await issue(app, key, { email: "bob@example.org", ttl_seconds: 60 });
  assert.equal(status, 201);
  assert.match(body.code, /^[0-9a-f]{48}$/);
  assert.match(body.id, /^[0-9a-f]{16}$/);
  assert.equal(body.link, `https://box.example/pair#code=${body.code}`);
  const { code: _, link: _link, ...rest } = body;
  const expected = { role: "member", email: "bob@example.org", expires_at: now + 60 };
  assert.deepEqual(rest, { id: body.id, ...expected });

  const list = () => app.call("GET", "/v1/pair/codes", { key });
  const shown = { ...rest, issued_by: accountId, created_at: now, account_id: null };
  assert.deepEqual((await list()).body, { codes: [shown] });
  await app.clock.turn(59_999);
  assert.equal((await list()).body.codes.length, 1);
  await app.clock.turn(1);
  assert.deepEqual((await list()).body, { codes: [] });
  assert.equal((await pair(app, body.code)).status, 401);
  assert.equal((await app.call("DELETE", `/v1/pair/codes/${body.id}`, { key })).status, 404);
});

test("a code is good for an hour unless told, and its bounds are checked", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  const now = app.clock.now() / 1000;
  const usual = (await issue(app, key)).body;
  assert.deepEqual([usual.role, usual.email, usual.expires_at - now], ["member", null, 3600]);
  const long = await issue(app, key, { ttl_seconds: 604_800 });
  assert.equal(long.body.expires_at - now, 604_800);
  const bad = [
    { ttl_seconds: 59 },
    { ttl_seconds: 604_801 },
    { role: "king" },
    { email: "x" },
    { ttl: 60 },
  ];
  for (const body of bad) assert.equal((await issue(app, key, body)).status, 400);
});

test("managers only: members neither issue, list nor revoke codes", async (t) => {
  const app = testApp(t);
  const { key } = app.person("member");
  assert.equal((await issue(app, key)).status, 403);
  assert.equal((await app.call("GET", "/v1/pair/codes", { key })).status, 403);
  assert.equal((await app.call("DELETE", "/v1/pair/codes/abc", { key })).status, 403);
  assert.equal((await issue(app, "ptk_0000000000000000_x")).status, 401);
});

test("HEAD and other methods consume nothing", async (t) => {
  const app = testApp(t);
  const code = operatorCode(app);
  const { receipt } = (await pair(app, operatorCode(app))).body;
  for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "DELETE"]) {
    const answer = await app.call(method, `/v1/pair/verify?receipt=${receipt}`);
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET"], method);
  }
  for (const method of ["HEAD", "OPTIONS", "GET", "PUT"]) {
    const answer = await app.call(method, "/v1/pair");
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"], method);
  }
  assert.equal((await app.call("GET", `/v1/pair/verify?receipt=${receipt}`)).status, 200);
  assert.equal((await pair(app, code, { email: "bob@example.org" })).status, 200);
});

test("a receipt is good for ten minutes; everything else about one is the same 400", async (t) => {
  const app = testApp(t);
  const fresh = async (email: string) => (await pair(app, operatorCode(app), { email })).body;
  const verify = (query: string) => app.call("GET", `/v1/pair/verify${query}`);
  const stale = await fresh("a@example.org");
  await app.clock.turn(1);
  const young = await fresh("b@example.org");
  const gone = await fresh("c@example.org");
  app.tenant.store.write((tx) => removeAccount(tx, null, gone.box_account_id));
  assert.equal((await verify(`?receipt=${gone.receipt}`)).status, 400);
  await app.clock.turn(599_000);
  assert.equal((await verify(`?receipt=${young.receipt}`)).status, 200);
  await app.clock.turn(999);
  const queries = [
    `?receipt=${stale.receipt}`,
    `?receipt=${young.receipt}`,
    `?receipt=${gone.receipt}`,
    `?receipt=${"0".repeat(48)}`,
    `?receipt=${"0".repeat(49)}`,
    "?receipt=",
    "",
  ];
  const answers = new Set<string>();
  for (const query of queries) answers.add(seen(await verify(query)));
  assert.equal(answers.size, 1, [...answers].join("\n"));
  const { status, body } = JSON.parse([...answers][0] ?? "");
  assert.deepEqual([status, body.error.code], [400, "receipt_refused"]);
  assert.equal((await verify("?receipt=a&receipt=b")).status, 400);
});

test("more passwords than can wait are refused, before anything is spent", async (t) => {
  const app = testApp(t, { passwords: cheapPasswords(8) });
  const code = operatorCode(app);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => pair(app, "0".repeat(48))).concat(pair(app, code)),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 9);
  assert.equal(statuses.filter((status) => status === 429).length, 12);
  const last = answers.at(-1);
  assert.equal(last?.body.error.code, "overloaded");
  assert.equal(last?.headers.get("retry-after"), "1");
  assert.equal((await pair(app, code)).status, 200);
});

test("pairing is limited by address, and every answer says where one stands", async (t) => {
  const app = testApp(t, { rates: { pair: 3 } });
  const limits = ({ headers }: Answer) => [
    headers.get("ratelimit-policy"),
    headers.get("ratelimit"),
  ];
  const policy = '"pair";q=3;w=60';
  assert.deepEqual(limits(await pair(app, "x")), [policy, '"pair";r=2;t=1']);
  const verified = await app.call("GET", "/v1/pair/verify?receipt=x");
  assert.deepEqual(limits(verified), [policy, '"pair";r=1;t=1']);
  assert.deepEqual(limits(await pair(app, "0".repeat(48))), [policy, '"pair";r=0;t=1']);
  const refused = await pair(app, operatorCode(app));
  assert.equal(refused.status, 429);
  assert.deepEqual(limits(refused), [policy, '"pair";r=0;t=20']);
  assert.equal(refused.headers.get("retry-after"), "20");
  await app.clock.turn(20_000);
  assert.equal((await pair(app, operatorCode(app))).status, 200);
});

test("a hosted tenant has no pairing routes", async (t) => {
  const app = testApp(t, { role: "hosted" });
  const { key } = app.person("owner");
  assert.equal((await pair(app, "0".repeat(48))).status, 404);
  assert.equal((await app.call("GET", "/v1/pair/verify?receipt=x")).status, 404);
  assert.equal((await issue(app, key)).status, 404);
  assert.equal((await app.call("GET", "/v1/pair/codes", { key })).status, 404);
  assert.equal((await app.call("DELETE", "/v1/pair/codes/x", { key })).status, 404);
  assert.equal((await app.call("GET", "/v1/me", { key })).status, 200);
});
