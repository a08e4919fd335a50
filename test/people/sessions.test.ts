import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { auditedStore } from "../../src/ground/audit/record.ts";
import { unixSeconds } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { changeAccount, removeAccount } from "../../src/people/accounts.ts";
import { revokeKey } from "../../src/people/keys.ts";
import { setPasswordsOpen } from "../../src/people/oidc/password-switch.ts";
import {
  doubtPasskey,
  insertPasskey,
  listPasskeys,
  removePasskey,
  usePasskey,
} from "../../src/people/passkey.ts";
import type { SessionMethod } from "../../src/people/session.ts";
import {
  endOthers,
  endSession,
  findSession,
  listSessions,
  openSession,
  seenSession,
} from "../../src/people/sessions.ts";
import { createRetention, defaultRetention } from "../../src/tenant/retention.ts";
import { type TestApp, testApp } from "../support/app.ts";
import type { Person } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { scratch } from "../support/scratch.ts";

const DAY = 86_400_000;
const now = (app: TestApp) => Math.floor(app.clock.now() / 1000);
const find = (app: TestApp, cookie: string) => findSession(app.tenant.store, cookie, now(app));

function open(
  app: TestApp,
  { accountId }: Person,
  how: { method?: SessionMethod; keyId?: string | null; agent?: string } = {},
) {
  const { method = "password", keyId = null, agent = "Firefox" } = how;
  return app.tenant.store.write((tx) =>
    openSession(tx, { accountId, method, keyId, address: "192.0.2.7", agent }),
  );
}

const keyOf = (app: TestApp, { accountId }: Person) =>
  app.tenant.store
    .sql("SELECT id FROM api_keys WHERE account_id = ?")
    .pluck()
    .get(accountId) as string;

/** As pairing leaves it: with a password. */
const giveWord = (app: TestApp, { accountId }: Person) =>
  app.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET password_hash = 'x' WHERE id = ?").run(accountId),
  );

test("a cookie gives its account's present role, and isn't stored", (t) => {
  const app = testApp(t);
  const ann = app.person("admin", "ann@example.org");
  const { id, cookie } = open(app, ann);
  assert.match(cookie, /^[0-9A-Za-z]{43}$/);
  assert.deepEqual(find(app, cookie), {
    sessionId: id,
    accountId: ann.accountId,
    role: "admin",
    name: "ann@example.org",
    email: "ann@example.org",
    keyId: null,
    seenAt: now(app),
  });
  app.tenant.store.write((tx) => tx.sql("UPDATE accounts SET role = 'member'").run());
  assert.equal(find(app, cookie)?.role, "member");
  for (const bad of ["", cookie.slice(1), `${cookie}0`, cookie.toLowerCase()])
    assert.equal(find(app, bad), null, bad);
  const kept = JSON.stringify(app.tenant.store.sql("SELECT * FROM sessions").all());
  assert.ok(!kept.includes(cookie));
});

test("a session ends after 30 idle days or 180 days, and is then deleted", async (t) => {
  // Only a store: no timers run while months pass.
  const clock = handClock();
  const path = join(scratch(t), "box.db");
  const store = openStore({ path, kind: "box", clock, random: systemRandom });
  t.after(() => store.close());
  const alive = ({ cookie }: { cookie: string }) =>
    findSession(store, cookie, unixSeconds(clock)) !== null;
  const signIn = () =>
    store.write((tx) => {
      tx.sql(
        "INSERT OR IGNORE INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at) VALUES ('a', '', '', '', '', 'owner', 1)",
      ).run();
      const how = { method: "password", keyId: null, address: "", agent: "" } as const;
      return openSession(tx, { accountId: "a", ...how });
    });
  const [idle, used] = [signIn(), signIn()];
  const see = () => store.write((tx) => seenSession(tx, used.id));
  await clock.turn(30 * DAY - 1000);
  see();
  assert.deepEqual([idle, used].map(alive), [true, true]);
  await clock.turn(1000);
  assert.deepEqual([idle, used].map(alive), [false, true]);
  for (let days = 40; days <= 170; days += 10) {
    await clock.turn(10 * DAY);
    assert.ok(alive(used), `after ${days} days`);
    see();
  }
  await clock.turn(10 * DAY - 1000);
  assert.equal(alive(used), true);
  see();
  await clock.turn(1000);
  see();
  assert.equal(alive(used), false);
  const fresh = signIn();
  const retention = createRetention(store, defaultRetention);
  while (retention.slice());
  assert.deepEqual(store.sql("SELECT id FROM sessions").pluck().all(), [fresh.id]);
});

test("when a session was seen is written once a minute, and leaves nothing in the audit", async (t) => {
  const app = testApp(t);
  const { cookie } = open(app, app.person("member"));
  const seen = () => {
    const found = find(app, cookie);
    assert.ok(found);
    app.tenant.sessionSeen(found);
    return (find(app, cookie)?.seenAt ?? 0) - start;
  };
  const start = now(app);
  await app.clock.turn(59_000);
  assert.equal(seen(), 0);
  await app.clock.turn(1000);
  assert.equal(seen(), 60);
  assert.equal(app.tenant.store.sql("SELECT count(*) FROM audit").pluck().get(), 0);
});

test("a clock that is wrong for a while signs nobody out", async (t) => {
  const app = testApp(t);
  const { cookie } = open(app, app.person("member"));
  const right = app.clock.now();
  const look = () => {
    const found = findSession(app.tenant.store, cookie, unixSeconds(app.tenant.clock));
    if (found !== null) app.tenant.sessionSeen(found);
    return found !== null;
  };
  app.clock.setWall(right - 365 * DAY);
  await app.clock.turn(60_000);
  assert.ok(unixSeconds(app.tenant.clock) < right / 1000 - 300 * 86_400, "the box has it");
  assert.equal(look(), true);
  app.clock.setWall(right + 120_000);
  await app.clock.turn(60_000);
  assert.equal(look(), true);
});

test("above 50 sessions of an account the one seen longest ago ends; other accounts' stay", async (t) => {
  const app = testApp(t);
  const [ann, bob] = [app.person("owner"), app.person("member")];
  const hers = open(app, bob);
  const [first, second] = [open(app, ann), open(app, ann)];
  for (let i = 2; i < 50; i++) open(app, ann);
  await app.clock.turn(120_000);
  const found = find(app, first.cookie);
  assert.ok(found);
  app.tenant.sessionSeen(found);
  const last = open(app, ann);
  const alive = [first, second, last, hers].map(({ cookie }) => find(app, cookie) !== null);
  assert.deepEqual(alive, [true, false, true, true]);
  assert.equal(listSessions(app.tenant.store, ann.accountId, now(app)).length, 50);
});

test("sessions end by sign-out, by ending all others, and with their account or key", (t) => {
  const app = testApp(t);
  const { store } = app.tenant;
  const [owner, ann] = [app.person("owner"), app.person("member")];
  const keyId = keyOf(app, ann);
  const [here, there] = [open(app, ann), open(app, ann)];
  const byKey = open(app, ann, { method: "key", keyId });
  const own = open(app, owner);
  const alive = () => [here, there, byKey, own].map(({ cookie }) => find(app, cookie) !== null);
  store.write((tx) => revokeKey(tx, ann.accountId, keyId));
  assert.deepEqual(alive(), [true, true, false, true]);
  assert.equal(
    store.write((tx) => endOthers(tx, ann.accountId, here.id)),
    1,
  );
  assert.deepEqual(alive(), [true, false, false, true]);
  store.write((tx) => removeAccount(tx, owner.accountId, ann.accountId));
  assert.deepEqual(alive(), [false, false, false, true]);
  store.write((tx) => endSession(tx, owner.accountId, own.id));
  assert.deepEqual(alive(), [false, false, false, false]);
  assert.throws(() => store.write((tx) => endSession(tx, null, own.id)), { code: "not_found" });
});

test("which roles may end whose sessions", (t) => {
  const app = testApp(t);
  for (const by of ["owner", "admin", "member"] as const)
    for (const whom of ["owner", "admin", "member"] as const) {
      const [caller, target] = [by, whom].map((role, i) =>
        app.person(role, `${by}${whom}${i}@x.y`),
      );
      assert.ok(caller && target);
      const end = (of: Person) => {
        const { id } = open(app, of);
        try {
          app.tenant.store.write((tx) => endSession(tx, caller.accountId, id));
          return true;
        } catch (error) {
          assert.equal((error as { code: string }).code, "forbidden");
          return false;
        }
      };
      const governs = by === "owner" || (by === "admin" && whom !== "owner");
      assert.deepEqual([end(caller), end(target)], [true, governs], `${by} ${whom}`);
    }
});

test("sign-in and sign-out are audit rows without the cookie", (t) => {
  const app = testApp(t);
  const owner = app.person("owner");
  const author = { accountId: null, via: "page", hint: "", address: "", verb: "signIn" } as const;
  const store = auditedStore(app.tenant.store, { ...author, target: { kind: "session", id: "" } });
  const { id, cookie } = store.write((tx) =>
    openSession(tx, {
      accountId: owner.accountId,
      method: "key",
      keyId: keyOf(app, owner),
      address: "192.0.2.7",
      agent: "x".repeat(300),
    }),
  );
  store.write((tx) => endSession(tx, owner.accountId, id));
  const rows = store
    .sql<[], { kind: string; target_id: string; changes: string }>("SELECT * FROM audit")
    .all();
  assert.deepEqual(
    rows.map(({ kind, target_id }) => [kind, target_id]),
    [
      ["session", id],
      ["session", id],
    ],
  );
  const fields = JSON.parse(rows[0]?.changes ?? "") as { field: string; to: unknown }[];
  assert.deepEqual(
    fields.map(({ field, to }) => [field, to]),
    [
      ["account_id", owner.accountId],
      ["method", "key"],
      ["key_id", keyOf(app, owner)],
      ["address", "192.0.2.7"],
      ["agent", "x".repeat(256)],
      ["cookie", "changed"],
    ],
  );
  assert.ok(!JSON.stringify(rows).includes(cookie));
});

test("an owner who signed in with a password counts as another owner; the last one without a key stays", (t) => {
  const app = testApp(t);
  const { store } = app.tenant;
  const [ann, bob] = [app.person("owner"), app.person("owner", "bob@example.org")];
  const revoke = (of: Person) => store.write((tx) => revokeKey(tx, of.accountId, keyOf(app, of)));
  const refused = { code: "last_owner" };
  revoke(bob);
  assert.throws(() => revoke(ann), refused);
  // An owner who has a password and never signed in may not know it.
  const carol = app.person("owner", "carol@example.org");
  revoke(carol);
  giveWord(app, carol);
  assert.throws(() => revoke(ann), refused);
  // A session alone is no way to sign in again: there is no password.
  const session = open(app, bob);
  assert.throws(() => revoke(ann), refused);
  giveWord(app, ann);
  open(app, ann);
  // Her own sign-in doesn't replace a key: the last owner keeps one.
  assert.throws(() => revoke(ann), refused);
  assert.throws(() => store.write((tx) => removeAccount(tx, null, ann.accountId)), refused);
  giveWord(app, bob);
  store.write((tx) => endSession(tx, null, session.id));
  revoke(ann);
  store.write((tx) => removeAccount(tx, null, ann.accountId));
  assert.throws(() => store.write((tx) => removeAccount(tx, null, bob.accountId)), refused);
});

test("with passwords off, the last owner's passkey, account and role stay", (t) => {
  const app = testApp(t);
  const { store } = app.tenant;
  const [ann, bob] = [app.person("owner"), app.person("owner", "bob@example.org")];
  for (const person of [ann, bob]) {
    giveWord(app, person);
    open(app, person);
  }
  for (const person of [ann, bob])
    store.write((tx) => revokeKey(tx, person.accountId, keyOf(app, person)));
  const passkeyOf = ({ accountId }: Person): string => {
    store.write((tx) => {
      const made = { publicKey: "k", rpId: "box.example.org", counter: 0, transports: [] };
      insertPasskey(tx, { ...made, accountId, name: "phone", credential: `of ${accountId}` });
      usePasskey(tx, { id: listPasskeys(tx, accountId)[0]?.id ?? "", counter: 0 });
    });
    return listPasskeys(store, accountId)[0]?.id ?? "";
  };
  const anns = passkeyOf(ann);
  const refused = { code: "last_owner" };
  const remove = (id: string) => () =>
    store.write((tx) => removePasskey(tx, null, { id, kept: "" }));
  const demote = () =>
    store.write((tx) => changeAccount(tx, bob.accountId, { id: ann.accountId, role: "admin" }));
  store.write((tx) => setPasswordsOpen(tx, false));
  assert.throws(() => store.write((tx) => removeAccount(tx, null, ann.accountId)), refused);
  assert.throws(demote, refused);
  assert.throws(remove(anns), refused);
  assert.equal(listPasskeys(store, ann.accountId).length, 1);
  // A passkey that may have a copy doesn't count, and can be removed.
  passkeyOf(bob);
  store.write((tx) => doubtPasskey(tx, anns));
  remove(anns)();
  store.write((tx) => removeAccount(tx, null, ann.accountId));
  const bobs = listPasskeys(store, bob.accountId)[0]?.id ?? "";
  assert.throws(remove(bobs), refused);
  store.write((tx) => setPasswordsOpen(tx, true));
  store.write((tx) => removePasskey(tx, bob.accountId, { id: bobs, kept: "" }));
});
