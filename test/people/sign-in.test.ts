import assert from "node:assert/strict";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { unixSeconds } from "../../src/ground/kit/clock.ts";
import { createPasswords } from "../../src/ground/kit/password.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { Role } from "../../src/ground/store/columns.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { changeAccount } from "../../src/people/accounts.ts";
import { issueCode, lookAtCode, revokeCode } from "../../src/people/codes.ts";
import { revokeKey } from "../../src/people/keys.ts";
import { replacePassword } from "../../src/people/passwords.ts";
import { findSession } from "../../src/people/sessions.ts";
import { signInByCode, signInByKey, signInByPassword } from "../../src/people/sign-in.ts";
import { createTries } from "../../src/people/tries.ts";
import { cheapPasswords, type TestApp, testApp } from "../support/app.ts";
import { handClock } from "../support/clock.ts";
import { scratch } from "../support/scratch.ts";

const browser = { address: "192.0.2.7", agent: "Firefox" };
const WORD = "correct horse";

const find = (app: TestApp, { cookie }: { cookie: string }) =>
  findSession(app.tenant.store, cookie, unixSeconds(app.clock));

const code = (app: TestApp, role: Role = "member", email: string | null = null) =>
  app.tenant.store.write((tx) => issueCode(tx, null, { role, email, ttlSeconds: 3600 }));

const claimed = (text: string, email = "ann@example.org") => ({
  code: text,
  password: WORD,
  email,
  displayName: null,
});

/** Ann, who has redeemed her code in a browser. */
async function seated(t: TestContext, role: Role = "owner", app = testApp(t)) {
  const ann = await signInByCode(app.tenant, claimed(code(app, role).code), browser);
  return { app, ann };
}

const by = (app: TestApp, password: string, email = "ann@example.org") =>
  signInByPassword(app.tenant, { email, password, ...browser });

/** The outcome: "in", or the error's code and message. */
const outcome = (way: Promise<unknown>) =>
  way.then(
    () => "in",
    (error) => `${error.code} ${error.retryAfter ?? ""}`.trim(),
  );

const audit = (app: TestApp) =>
  app.tenant.store
    .sql<
      [],
      { verb: string; via: string; hint: string; kind: string; target_id: string; changes: string }
    >("SELECT verb, via, hint, kind, target_id, changes FROM audit ORDER BY id")
    .all();

test("email and password open a session, in any case of the email, and leave an audit row", async (t) => {
  const { app, ann } = await seated(t);
  const before = audit(app).length;
  const again = await by(app, WORD, "ANN@example.org");
  assert.equal(again.accountId, ann.accountId);
  const found = find(app, again);
  assert.deepEqual([found?.sessionId, found?.role], [again.sessionId, "owner"]);
  const [row, ...more] = audit(app).slice(before);
  assert.deepEqual([row?.verb, row?.via, row?.hint], ["signIn", "page", "password"]);
  assert.deepEqual([row?.kind, row?.target_id, more], ["session", again.sessionId, []]);
});

test("every wrong email or password, and an account without one, gets the same answer after one argon2", async (t) => {
  const real = cheapPasswords();
  const checked: (string | null)[] = [];
  const verify: typeof real.verify = (password, phc) => {
    checked.push(phc);
    return real.verify(password, phc);
  };
  const { app } = await seated(t, "owner", testApp(t, { passwords: { ...real, verify } }));
  app.person("member", "bare@example.org");
  const wrong = [
    ["wrong horse", "ann@example.org"],
    [WORD, "nobody@example.org"],
    [WORD, ""],
    ["", "ann@example.org"],
    ["", "bare@example.org"],
    [WORD, "bare@example.org"],
  ];
  const errors = new Set<string>();
  for (const [password = "", email = ""] of wrong) {
    checked.length = 0;
    const error = await by(app, password, email).catch((error) => error);
    errors.add(`${error.status} ${error.code} ${error.message}`);
    assert.equal(checked.length, 1, `${email}: one argon2`);
  }
  assert.equal(errors.size, 1);
  assert.match([...errors][0] ?? "", /^401 sign_in_refused /);
});

test("after eleven wrong passwords the answer names the wait, the right one works after it, and others aren't slowed", async (t) => {
  const { app, ann } = await seated(t);
  const key = app.person("member", "bob@example.org").key;
  for (let i = 0; i < 10; i++) assert.equal(await outcome(by(app, "wrong")), "sign_in_refused");
  assert.equal(await outcome(by(app, WORD)), "rate_limited 60");
  await app.clock.turn(17_000);
  assert.equal(await outcome(by(app, WORD, "Ann@Example.org")), "rate_limited 43");
  assert.equal(await outcome(by(app, WORD, "other@example.org")), "sign_in_refused");
  assert.ok(find(app, signInByKey(app.tenant, { key, ...browser })));
  assert.ok(find(app, ann), "who is in stays in");
  // A refused try doesn't count: the wait doesn't grow.
  await app.clock.turn(43_000);
  assert.equal(await outcome(by(app, WORD)), "in");
  assert.equal(await outcome(by(app, "wrong")), "sign_in_refused");
  assert.equal(await outcome(by(app, WORD)), "rate_limited 60");
  await app.clock.turn(60_000);
  assert.equal(await outcome(by(app, "wrong")), "sign_in_refused");
  await app.clock.turn(14 * 60_000);
  for (let i = 0; i < 8; i++) assert.equal(await outcome(by(app, "wrong")), "sign_in_refused");
});

test("many tries at once gain nothing, also for an email without an account", async (t) => {
  const { app } = await seated(t);
  for (const email of ["ann@example.org", "nobody@example.org"]) {
    const all = await Promise.all(
      Array.from({ length: 30 }, () => outcome(by(app, "wrong", email))),
    );
    assert.equal(all.filter((one) => one === "sign_in_refused").length, 10, email);
    assert.equal(all.filter((one) => one === "rate_limited 60").length, 20, email);
  }
});

test("a password that wasn't checked doesn't count as wrong", async (t) => {
  const { app } = await seated(t, "owner", testApp(t, { passwords: cheapPasswords(0) }));
  for (const burst of [1, 2, 3]) {
    const all = await Promise.all(Array.from({ length: 30 }, () => outcome(by(app, WORD))));
    const count = (how: string) => all.filter((one) => one === how).length;
    assert.deepEqual([count("in"), count("overloaded 1")], [1, 9], `burst ${burst}`);
  }
  assert.equal(await outcome(by(app, WORD)), "in");
});

test("a password that changes during its check signs nobody in", async (t) => {
  const { app, ann } = await seated(t);
  const going = outcome(by(app, WORD));
  app.tenant.store.write((tx) =>
    replacePassword(tx, { accountId: ann.accountId, hash: "another", kept: null }),
  );
  assert.equal(await going, "sign_in_refused");
  assert.equal(app.tenant.store.sql("SELECT count(*) FROM sessions").pluck().get(), 0);
});

test("failed sign-ins are counted by the minute and account in the audit", async (t) => {
  const { app, ann } = await seated(t);
  const from = audit(app).length;
  const fail = async (email: string) => {
    await outcome(by(app, "wrong", email));
  };
  for (let i = 0; i < 3; i++) await fail("ann@example.org");
  for (let i = 0; i < 2; i++) await fail(`nobody-${i}@example.org`);
  assert.throws(() => signInByKey(app.tenant, { key: "ptk_x", ...browser }));
  await app.clock.turn(60_000);
  await fail("ann@example.org");
  const counted = audit(app)
    .slice(from)
    .map(({ verb, kind, target_id, changes }) => [
      verb,
      kind,
      target_id,
      JSON.parse(changes)[0].to,
    ]);
  assert.deepEqual(counted, [
    ["signInRefused", "account", ann.accountId, 3],
    ["signInRefused", "account", "", 3],
    ["signInRefused", "account", ann.accountId, 1],
  ]);
});

test("a pasted API key opens a session that ends with the key; other texts open none", async (t) => {
  const app = testApp(t);
  const { key, accountId } = app.person("admin");
  const session = signInByKey(app.tenant, { key: ` ${key}\n`, ...browser });
  const found = find(app, session);
  assert.equal(found?.accountId, accountId);
  const token = key.replace("ptk_", "pti_");
  for (const bad of ["", token, key.slice(0, -1), session.cookie])
    assert.throws(() => signInByKey(app.tenant, { key: bad, ...browser }), {
      code: "sign_in_refused",
    });
  app.tenant.store.write((tx) => revokeKey(tx, accountId, found?.keyId ?? ""));
  assert.equal(find(app, session), null);
  assert.throws(() => signInByKey(app.tenant, { key, ...browser }), { code: "sign_in_refused" });
});

test("a code that is redeemed in a browser makes an API key only if asked to", async (t) => {
  const { app, ann } = await seated(t, "admin");
  const count = (table: string) =>
    app.tenant.store.sql(`SELECT count(*) FROM ${table}`).pluck().get();
  assert.equal(find(app, ann)?.role, "admin");
  assert.deepEqual([ann.granted, count("api_keys"), count("pair_receipts")], [null, 0, 0]);
  const owner = await signInByCode(app.tenant, claimed(code(app, "owner").code), {
    mintsKey: true,
    ...browser,
  });
  assert.equal(owner.accountId, ann.accountId);
  assert.equal(find(app, owner)?.role, "owner");
  const me = await app.call("GET", "/v1/me", { key: owner.granted?.api_key ?? "" });
  assert.equal(me.body.account.id, ann.accountId);
  const rows = audit(app).filter(({ via }) => via === "pairing");
  assert.ok(rows.some(({ kind, target_id }) => kind === "session" && target_id === ann.sessionId));
  const used = outcome(signInByCode(app.tenant, claimed("0".repeat(48)), browser));
  assert.equal(await used, "pairing_refused");
});

test("looking at a code doesn't use it up, and shows nothing of a used, expired or revoked one", async (t) => {
  const app = testApp(t);
  const { store } = app.tenant;
  const { accountId } = app.person("admin", "boss@example.org");
  const look = (text: string) => lookAtCode(store, text, unixSeconds(app.clock));
  const issue = (email: string | null) =>
    store.write((tx) => issueCode(tx, accountId, { role: "member", email, ttlSeconds: 3600 }));
  const made = issue("ann@example.org");
  const invited = {
    role: "member",
    email: "ann@example.org",
    by: "boss@example.org",
    resets: false,
  };
  assert.deepEqual([look(made.code), look(made.code)], [invited, invited]);
  assert.deepEqual(look(code(app, "owner").code), {
    role: "owner",
    email: null,
    by: null,
    resets: false,
  });
  await signInByCode(app.tenant, claimed(made.code), browser);
  const [taken, old] = [issue(null), issue(null)];
  store.write((tx) => revokeCode(tx, taken.id));
  assert.deepEqual(
    [made, taken].map((one) => look(one.code)),
    [null, null],
  );
  assert.notEqual(look(old.code), null);
  store.write((tx) => changeAccount(tx, null, { id: accountId, role: "member" }));
  assert.equal(look(old.code), null);
  store.write((tx) => changeAccount(tx, null, { id: accountId, role: "admin" }));
  await app.clock.turn(3_600_000);
  assert.deepEqual([look(old.code), look(""), look("x")], [null, null, null]);
});

test("on a full disk the spare file lets people sign in, and isn't used to count failures", async (t) => {
  const clock = handClock();
  const path = join(scratch(t), "box.db");
  let reserves = 1;
  const store = openStore({
    path,
    kind: "box",
    clock,
    random: systemRandom,
    makeRoom() {
      store.db.pragma("max_page_count = 100000");
      return reserves-- > 0;
    },
  });
  t.after(() => store.close());
  const passwords = createPasswords(systemRandom, { cost: { memory: 64, passes: 1, lanes: 1 } });
  const parts = { id: "0123456789abcdef", store, passwords, tries: createTries(store) };
  const { code: text } = store.write((tx) =>
    issueCode(tx, null, { role: "owner", email: null, ttlSeconds: 3600 }),
  );
  await signInByCode(parts, claimed(text), browser);
  store.db.pragma(`max_page_count = ${store.db.pragma("page_count", { simple: true })}`);
  // Fills the free space inside the pages, too.
  const fill = store.db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  for (let size = 4000, i = 0; size > 1; i++)
    try {
      fill.run(`filling-${i}`, "x".repeat(size));
    } catch {
      size = Math.floor(size / 2);
    }
  const way = (password: string) =>
    outcome(signInByPassword(parts, { email: "ann@example.org", password, ...browser }));
  // Each in its own minute, so that each needs a row of its own.
  for (let i = 0; i < 60; i++) {
    assert.equal(await way("wrong"), "sign_in_refused");
    await clock.turn(60_000);
  }
  assert.equal(reserves, 1);
  for (let i = 0; i < 60; i++) assert.equal(await way(WORD), "in");
  assert.equal(reserves, 0);
});

test("a restart gives no new tries, and wrong passwords stop counting after a quarter of an hour", async (t) => {
  const clock = handClock();
  const path = join(scratch(t), "box.db");
  const opened = () => openStore({ path, kind: "box", clock, random: systemRandom });
  let store = opened();
  t.after(() => store.close());
  const passwords = cheapPasswords();
  let tries = createTries(store);
  const restart = () => {
    store.close();
    store = opened();
    tries = createTries(store);
  };
  const way = (password: string, email = "ann@example.org") =>
    outcome(
      signInByPassword(
        { id: "0123456789abcdef", store, passwords, tries },
        { email, password, ...browser },
      ),
    );
  const { code: text } = store.write((tx) =>
    issueCode(tx, null, { role: "owner", email: null, ttlSeconds: 3600 }),
  );
  await signInByCode({ id: "0123456789abcdef", store, passwords, tries }, claimed(text), browser);
  for (const email of ["ann@example.org", "nobody@example.org"])
    for (let i = 0; i < 10; i++) {
      assert.equal(await way("wrong", email), "sign_in_refused");
      if (i % 4 === 3) restart();
    }
  restart();
  await clock.turn(20_000);
  assert.equal(await way(WORD, "ANN@example.org"), "rate_limited 40");
  assert.equal(await way(WORD, "nobody@example.org"), "rate_limited 40");
  assert.equal(await way(WORD, "other@example.org"), "sign_in_refused");
  await clock.turn(40_000);
  restart();
  assert.equal(await way(WORD), "in", "the wait is over");
  const kept = () => store.sql("SELECT count(*) FROM wrong_tries").pluck().get();
  assert.ok(!JSON.stringify(store.sql("SELECT * FROM wrong_tries").all()).includes("example"));
  assert.equal(kept(), 3);
  await clock.turn(15 * 60_000 + 1000);
  restart();
  for (let i = 0; i < 10; i++) assert.equal(await way("wrong"), "sign_in_refused");
  assert.equal(kept(), 1, "what is over goes with the next");
});
