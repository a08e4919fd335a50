import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { unixSeconds } from "../../src/ground/kit/clock.ts";
import type { Role } from "../../src/ground/store/columns.ts";
import { changeAccount, removeAccount } from "../../src/people/accounts.ts";
import { issueCode, issueReset, lookAtCode, revokeCode } from "../../src/people/codes.ts";
import { changePassword, replacePassword } from "../../src/people/passwords.ts";
import { findSession } from "../../src/people/sessions.ts";
import { signInByCode, signInByPassword } from "../../src/people/sign-in.ts";
import { type TestApp, testApp } from "../support/app.ts";

const browser = { address: "192.0.2.7", agent: "Firefox" };
const [OLD, NEW] = ["correct horse", "battery staple"];
const ANN = "ann@example.org";

const alive = (app: TestApp, { cookie }: { cookie: string }) =>
  findSession(app.tenant.store, cookie, unixSeconds(app.clock)) !== null;

const redeem = (app: TestApp, code: string, password: string, email: string | null = ANN) =>
  signInByCode(app.tenant, { code, password, email, displayName: null }, browser);

/** Ann with her password, and the browser that she paired with. */
async function seated(t: TestContext, role: Role = "member", app = testApp(t)) {
  const { code } = app.tenant.store.write((tx) =>
    issueCode(tx, null, { role, email: null, ttlSeconds: 3600 }),
  );
  return { app, ann: await redeem(app, code, OLD) };
}

const signIn = (app: TestApp, password: string) =>
  signInByPassword(app.tenant, { email: ANN, password, ...browser }).then(
    () => "in",
    ({ code }) => code as string,
  );

const change = (
  app: TestApp,
  accountId: string,
  how: { old?: string; kept?: string | null } = {},
) =>
  changePassword(app.tenant, { accountId, old: OLD, new: NEW, kept: null, ...how }).then(
    () => "changed",
    (error) => `${error.code} ${error.retryAfter ?? ""}`.trim(),
  );

test("changing one's own password needs the old one, and ends every other session of the account", async (t) => {
  const { app, ann } = await seated(t);
  const [here, there] = [
    await signInByPassword(app.tenant, { email: ANN, password: OLD, ...browser }),
    await signInByPassword(app.tenant, { email: ANN, password: OLD, ...browser }),
  ];
  assert.equal(await change(app, ann.accountId, { old: NEW }), "password_refused");
  assert.deepEqual(
    [ann, here, there].map((one) => alive(app, one)),
    [true, true, true],
  );
  assert.equal(await change(app, ann.accountId, { kept: here.sessionId }), "changed");
  assert.deepEqual(
    [ann, here, there].map((one) => alive(app, one)),
    [false, true, false],
  );
  assert.deepEqual([await signIn(app, OLD), await signIn(app, NEW)], ["sign_in_refused", "in"]);
});

test("wrong old passwords count together with wrong passwords at sign-in", async (t) => {
  const { app, ann } = await seated(t);
  for (let i = 0; i < 5; i++) {
    assert.equal(await change(app, ann.accountId, { old: "wrong" }), "password_refused");
    assert.equal(await signIn(app, "wrong"), "sign_in_refused");
  }
  assert.equal(await change(app, ann.accountId), "rate_limited 60");
  await app.clock.turn(60_000);
  assert.equal(await change(app, ann.accountId), "changed");
});

test("a password that changed meanwhile can't be changed with the previous one", async (t) => {
  const { app, ann } = await seated(t);
  const changing = change(app, ann.accountId);
  app.tenant.store.write((tx) =>
    replacePassword(tx, { accountId: ann.accountId, hash: "another", kept: null }),
  );
  assert.equal(await changing, "password_refused");
  const hash = app.tenant.store.sql("SELECT password_hash FROM accounts").pluck().get();
  assert.equal(hash, "another");
});

test("a reset link sets the password, once, ends all sessions and raises no role", async (t) => {
  const { app, ann } = await seated(t, "admin");
  const { store } = app.tenant;
  const reset = store.write((tx) => issueReset(tx, null, ann.accountId));
  store.write((tx) => changeAccount(tx, null, { id: ann.accountId, role: "member" }));
  const invited = { role: "member", email: ANN, by: null, resets: true };
  assert.deepEqual(lookAtCode(store, reset.code, unixSeconds(app.clock)), invited);
  await assert.rejects(redeem(app, reset.code, NEW, "bob@example.org"), {
    code: "pairing_refused",
  });
  const again = await redeem(app, reset.code, NEW, null);
  assert.deepEqual(
    [again.accountId, alive(app, ann), alive(app, again)],
    [ann.accountId, false, true],
  );
  assert.equal(store.sql("SELECT role FROM accounts").pluck().get(), "member");
  assert.deepEqual([await signIn(app, OLD), await signIn(app, NEW)], ["sign_in_refused", "in"]);
  await assert.rejects(redeem(app, reset.code, OLD, null), { code: "pairing_refused" });
});

test("a reset link ends after an hour, and with another link, a new password, its revocation, or the account's removal", async (t) => {
  const { app, ann } = await seated(t);
  const { store } = app.tenant;
  const issue = () => store.write((tx) => issueReset(tx, null, ann.accountId)).code;
  const refused = async (code: string) =>
    assert.rejects(redeem(app, code, NEW), { code: "pairing_refused" });
  const old = issue();
  await app.clock.turn(3_600_000);
  await refused(old);
  const [first, second] = [issue(), issue()];
  await refused(first);
  store.write((tx) => {
    const hash = tx.sql("SELECT password_hash FROM accounts").pluck().get() as string;
    replacePassword(tx, { accountId: ann.accountId, hash, kept: null });
  });
  await refused(second);
  const third = issue();
  const [pending] = store.sql("SELECT id FROM pair_codes WHERE used_at IS NULL").pluck().all();
  store.write((tx) => revokeCode(tx, String(pending)));
  await refused(third);
  const last = issue();
  store.write((tx) => removeAccount(tx, null, ann.accountId));
  await refused(last);
  assert.equal(store.sql("SELECT count(*) FROM accounts").pluck().get(), 0);
});

test("which roles may issue a reset link for whom, and that it ends with the issuer's role", async (t) => {
  const app = testApp(t);
  app.person("owner", "stays@example.org");
  for (const by of ["owner", "admin", "member"] as const)
    for (const whom of ["owner", "admin", "member"] as const) {
      const caller = app.person(by, `caller-${by}-${whom}@example.org`);
      const target = app.person(whom, `${by}-${whom}@example.org`);
      const path = `/v1/accounts/${target.accountId}/reset`;
      const { status, body } = await app.call("POST", path, { key: caller.key });
      const governs = by === "owner" || (by === "admin" && whom !== "owner");
      assert.equal(status, governs ? 201 : 403, `${by} on ${whom}`);
      if (!governs) continue;
      assert.equal(body.link, `https://box.example/pair#code=${body.code}`);
      assert.equal(body.expires_at, unixSeconds(app.clock) + 3600);
      // A person who rises above the issuer meanwhile isn't taken over by the link.
      const { store } = app.tenant;
      if (by === "admin")
        store.write((tx) => changeAccount(tx, null, { id: target.accountId, role: "owner" }));
      else store.write((tx) => changeAccount(tx, null, { id: caller.accountId, role: "member" }));
      const mail = `${by}-${whom}@example.org`;
      await assert.rejects(redeem(app, body.code, NEW, mail), { code: "pairing_refused" });
    }
});
