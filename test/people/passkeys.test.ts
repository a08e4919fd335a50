import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test, { type TestContext } from "node:test";
import { auditedStore } from "../../src/ground/audit/record.ts";
import { unixSeconds } from "../../src/ground/kit/clock.ts";
import { removeAccount } from "../../src/people/accounts.ts";
import { listPasskeys, removePasskey } from "../../src/people/passkey.ts";
import { addPasskey, creationOptions, passkeyPurpose } from "../../src/people/passkeys.ts";
import { relyingParty } from "../../src/people/relying-party.ts";
import { findSession, listSessions, openSession } from "../../src/people/sessions.ts";
import { signInByPasskey } from "../../src/people/sign-in.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { type Authenticator, authenticator, type Said } from "../support/authenticator.ts";
import type { Person } from "../support/box.ts";

const party = { id: "box.example.org", origin: "https://box.example.org" };
const elsewhere = { id: "evil.example", origin: "https://evil.example" };
const browser = { address: "192.0.2.7", agent: "Firefox" };

const handleOf = ({ accountId }: Person) => Buffer.from(accountId).toString("base64url");

/** A signed-in person, and their browser's answers. */
function desk(app: TestApp, person: Person) {
  const { ways } = app.tenant;
  const { store } = app.tenant;
  const signedIn = () =>
    store.write((tx) =>
      openSession(tx, {
        accountId: person.accountId,
        method: "password",
        keyId: null,
        ...browser,
      }),
    ).id;
  const sessionId = signedIn();
  const asked = (purpose: string, at = party) => ({
    challenge: ways.challenges.make(purpose),
    rpId: at.id,
    origin: at.origin,
    userHandle: handleOf(person),
  });
  const take = (answer: string, name = "phone") =>
    addPasskey(
      { store, challenges: ways.challenges },
      { party, accountId: person.accountId, sessionId, name, answer },
    );
  const enter = (answer: string, at = party) =>
    signInByPasskey(app.tenant, { party: at, answer, ...browser });
  return {
    sessionId,
    signedIn,
    asked,
    take,
    enter,
    toAdd: () => asked(passkeyPurpose.add(party, sessionId)),
    toSignIn: () => asked(passkeyPurpose.signIn(party)),
    async add(key: Authenticator = authenticator()) {
      await take(key.create(asked(passkeyPurpose.add(party, sessionId))));
      return key;
    },
  };
}

const ids = (app: TestApp, { accountId }: Person) =>
  listPasskeys(app.tenant.store, accountId).map(({ id }) => id);
const outcome = (way: Promise<unknown>) =>
  way.then(
    () => "in",
    (error) => String(error.code ?? error),
  );
const audit = (app: TestApp) =>
  app.tenant.store
    .sql<[], { verb: string; kind: string; target_id: string; changes: string }>(
      "SELECT verb, kind, target_id, changes FROM audit ORDER BY id",
    )
    .all();

function story(t: TestContext) {
  const app = testApp(t);
  const ann = app.person("owner", "ann@example.org");
  return { app, ann, ...desk(app, ann) };
}

test("a passkey signs in, counts its uses, and is kept without a secret", async (t) => {
  const { app, ann, add, toSignIn, enter } = story(t);
  const key = await add();
  await app.clock.turn(60_000);
  const { cookie, accountId } = await enter(key.get(toSignIn()));
  assert.equal(accountId, ann.accountId);
  const now = unixSeconds(app.clock);
  assert.equal(findSession(app.tenant.store, cookie, now)?.accountId, ann.accountId);
  assert.equal(listSessions(app.tenant.store, ann.accountId, now)[0]?.method, "passkey");
  const [passkey] = listPasskeys(app.tenant.store, ann.accountId);
  const { name, host, last_used_at, doubted_at } = passkey ?? assert.fail();
  assert.deepEqual([name, host, last_used_at, doubted_at], ["phone", party.id, now, null]);
  const row = audit(app).find(({ verb }) => verb === "signIn");
  assert.equal(row?.kind, "session");
  assert.match(row?.changes ?? "", new RegExp(passkey?.id ?? "-"));
  assert.equal(await outcome(enter(key.get(toSignIn()))), "in", "again, with a new challenge");
});

test("a passkey without a counter is accepted, each answer once", async (t) => {
  const { take, toAdd, toSignIn, enter } = story(t);
  const key = authenticator();
  await take(key.create(toAdd(), { counter: 0 }));
  for (let i = 0; i < 2; i++)
    assert.equal(await outcome(enter(key.get(toSignIn(), { counter: 0 }))), "in");
  // Only its challenge differs between the two tries.
  const answer = key.get(toSignIn(), { counter: 0 });
  const both = await Promise.all([outcome(enter(answer)), outcome(enter(answer))]);
  assert.deepEqual(both.toSorted(), ["in", "sign_in_refused"]);
  assert.equal(await outcome(enter(answer)), "sign_in_refused");
});

/** Every way to be refused at sign-in. */
test("only the passkey's own new answer for this box signs in", async (t) => {
  const { app, ann, add, toAdd, toSignIn, asked, enter } = story(t);
  const bob = app.person("member", "bob@example.org");
  const key = await add();
  const stranger = authenticator();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const used = key.get(toSignIn());
  assert.equal(await outcome(enter(used)), "in");
  const old = toSignIn();
  await app.clock.turn(5 * 60_000);
  const before = app.tenant.store.sql("SELECT count(*) FROM sessions").pluck().get();
  const said = (how: Said) => key.get(toSignIn(), how);
  const cases: Record<string, string> = {
    "the same answer once more": used,
    "a challenge of five minutes ago": key.get(old),
    "a challenge for adding": key.get(toAdd()),
    "a challenge of elsewhere": key.get(asked(passkeyPurpose.signIn(elsewhere))),
    "no challenge": key.get({ ...toSignIn(), challenge: "" }),
    "a challenge that was made up": key.get({ ...toSignIn(), challenge: "A".repeat(72) }),
    "another origin": key.get({ ...toSignIn(), origin: elsewhere.origin }),
    "plain http": key.get({ ...toSignIn(), origin: "http://box.example.org" }),
    "another port": key.get({ ...toSignIn(), origin: `${party.origin}:8443` }),
    "another host's passkey": key.get({ ...toSignIn(), rpId: elsewhere.id }),
    "a page within another's": said({ client: { crossOrigin: true, topOrigin: elsewhere.origin } }),
    "an answer that makes one": said({ type: "webauthn.create" }),
    "nobody verified": said({ verified: false }),
    "nobody there": said({ present: false }),
    "another account's": said({ userHandle: handleOf(bob) }),
    "nobody's": said({ userHandle: null }),
    "another key's signature": said({ key: privateKey }),
    "another credential's name": said({ credential: stranger.credential }),
    "a passkey that nobody added": stranger.get(toSignIn()),
    "no answer": "",
    "no object": "[]",
    "no fields": "{}",
    "half of one": said({}).slice(0, 99),
  };
  for (const [what, answer] of Object.entries(cases))
    assert.equal(await outcome(enter(answer)), "sign_in_refused", what);
  const at = { ...party, origin: `${party.origin}:8443` };
  assert.equal(await outcome(enter(said({}), at)), "sign_in_refused", "an address of its own");
  assert.equal(await outcome(enter(said({}), elsewhere)), "sign_in_refused", "another host");
  assert.equal(app.tenant.store.sql("SELECT count(*) FROM sessions").pluck().get(), before);
  const [{ last_used_at } = assert.fail()] = listPasskeys(app.tenant.store, ann.accountId);
  assert.ok((last_used_at ?? 0) <= unixSeconds(app.clock) - 300);
  assert.equal(await outcome(enter(key.get(toSignIn()))), "in", "the person isn't kept out");
  const refused = audit(app).filter(({ verb }) => verb === "signInRefused");
  assert.ok(refused.length > 0 && refused.length <= 4, "counted by account and minute");
});

test("a counter that went back is refused and shown in the audit and to its owner; a forged one isn't shown", async (t) => {
  const { app, ann, add, toSignIn, enter } = story(t);
  const key = await add();
  await enter(key.get(toSignIn(), { counter: 7 }));
  const doubted = () => listPasskeys(app.tenant.store, ann.accountId)[0]?.doubted_at ?? null;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const forged = key.get(toSignIn(), { counter: 3, key: privateKey });
  assert.equal(await outcome(enter(forged)), "sign_in_refused");
  assert.equal(doubted(), null);
  for (const counter of [7, 3, 0]) {
    const back = await enter(key.get(toSignIn(), { counter })).catch((error) => error);
    assert.match(back.message, /there may be a copy/, String(counter));
  }
  assert.equal(doubted(), unixSeconds(app.clock));
  const [id = ""] = ids(app, ann);
  const rows = audit(app).filter(({ verb }) => verb === "passkeyCounterBack");
  assert.equal(rows.length, 3);
  assert.deepEqual([rows[0]?.kind, rows[0]?.target_id], ["passkey", id]);
  assert.deepEqual(JSON.parse(rows[1]?.changes ?? ""), [{ field: "counter", from: 7, to: 3 }]);
  assert.equal(await outcome(enter(key.get(toSignIn(), { counter: 8 }))), "in");
});

test("only an answer to this session's own challenge adds a passkey", async (t) => {
  const { app, ann, add, take, toAdd, toSignIn, asked, signedIn } = story(t);
  const known = await add();
  const key = authenticator();
  const used = toAdd();
  await take(authenticator().create(used));
  const old = toAdd();
  await app.clock.turn(5 * 60_000);
  const other = asked(passkeyPurpose.add(party, signedIn()));
  const said = (how: Said) => key.create(toAdd(), how);
  const certificates = new Map<unknown, unknown>([
    ["alg", -7],
    ["sig", Buffer.alloc(70)],
    ["x5c", [Buffer.alloc(300)]],
  ]);
  const cases: Record<string, string> = {
    "a challenge that was used": key.create(used),
    "a challenge of five minutes ago": key.create(old),
    "another session's challenge": key.create(other),
    "a challenge for signing in": key.create(toSignIn()),
    "another origin": key.create({ ...toAdd(), origin: elsewhere.origin }),
    "another host's": key.create({ ...toAdd(), rpId: elsewhere.id }),
    "an answer that signs in": said({ type: "webauthn.get" }),
    "nobody verified": said({ verified: false }),
    "nobody there": said({ present: false }),
    "a kind of key that wasn't asked for": said({ algorithm: -35 }),
    "a maker's certificates": said({ format: "packed", statement: certificates }),
    "another attestation": said({ format: "android-safetynet", statement: new Map() }),
    "one that is known": known.create(toAdd()),
    "no answer": "",
    "no object": "7",
  };
  for (const [what, answer] of Object.entries(cases))
    assert.equal(await outcome(take(answer)), "invalid_request", what);
  assert.equal(ids(app, ann).length, 2);
  await take(key.create(toAdd()));
  while (ids(app, ann).length < 10) await add();
  assert.equal(await outcome(take(authenticator().create(toAdd()))), "too_many");
  const options = JSON.stringify(
    creationOptions(app.tenant.store, party, { ...ann, email: "ann@example.org", name: "Ann" }),
  );
  assert.ok(options.includes(known.credential), "known ones aren't made again");
});

test("a removed passkey signs nobody in, and ends the sessions that it opened except the one that removes it", async (t) => {
  const { app, ann, add, toSignIn, enter, sessionId } = story(t);
  const { store } = app.tenant;
  const bob = app.person("member", "bob@example.org");
  const key = await add();
  const phone = await enter(key.get(toSignIn()));
  const here = await enter(key.get(toSignIn()));
  const [id = ""] = ids(app, ann);
  const remove = (by: Person, kept = "") =>
    store.write((tx) => removePasskey(tx, by.accountId, { id, kept }));
  assert.throws(() => remove(bob), { code: "forbidden" });
  remove(ann, here.sessionId);
  const left = listSessions(store, ann.accountId, unixSeconds(app.clock)).map((one) => one.id);
  assert.deepEqual(left.sort(), [sessionId, here.sessionId].sort());
  assert.ok(!left.includes(phone.sessionId));
  assert.equal(await outcome(enter(key.get(toSignIn()))), "sign_in_refused");
  assert.throws(() => remove(ann), { code: "not_found" });
});

test("a manager who may change an account can remove its passkeys; removing the account removes them", async (t) => {
  const app = testApp(t);
  const [owner, admin] = [app.person("owner"), app.person("admin")];
  const hers = desk(app, owner);
  const his = desk(app, admin);
  await hers.add();
  const key = await his.add();
  const [ofOwner = ""] = ids(app, owner);
  const [ofAdmin = ""] = ids(app, admin);
  const { store } = app.tenant;
  const remove = (by: Person, id: string) =>
    store.write((tx) => removePasskey(tx, by.accountId, { id, kept: "" }));
  assert.throws(() => remove(admin, ofOwner), { code: "forbidden" });
  remove(owner, ofAdmin);
  assert.deepEqual(ids(app, admin), []);
  const again = await his.add();
  store.write((tx) => removeAccount(tx, owner.accountId, admin.accountId));
  assert.equal(store.sql("SELECT count(*) FROM passkeys").pluck().get(), 1);
  for (const one of [key, again])
    assert.equal(await outcome(his.enter(one.get(his.toSignIn()))), "sign_in_refused");
});

test("a passkey that is removed or used during its check signs nobody in", async (t) => {
  const { app, ann, add, toSignIn, enter } = story(t);
  const key = await add();
  // Of two answers with one counter the second is a copy's.
  const both = [toSignIn(), toSignIn()].map((asked) => enter(key.get(asked, { counter: 5 })));
  const outcomes = await Promise.all(both.map(outcome));
  assert.equal(outcomes.filter((one) => one === "in").length, 1, outcomes.join());
  const going = outcome(enter(key.get(toSignIn(), { counter: 9 })));
  const [id = ""] = ids(app, ann);
  app.tenant.store.write((tx) => removePasskey(tx, ann.accountId, { id, kept: "" }));
  assert.equal(await going, "sign_in_refused");
});

test("adding and removing a passkey leave audit rows with its name and host, and no secret", async (t) => {
  const { app, ann, sessionId, toAdd } = story(t);
  const key = authenticator();
  const author = { accountId: ann.accountId, via: "page", hint: "", address: "" } as const;
  const as = (verb: string) =>
    auditedStore(app.tenant.store, { ...author, verb, target: { kind: "passkey", id: "" } });
  await addPasskey(
    { store: as("addPasskey"), challenges: app.tenant.ways.challenges },
    { party, accountId: ann.accountId, sessionId, name: "phone", answer: key.create(toAdd()) },
  );
  const [id = ""] = ids(app, ann);
  as("removePasskey").write((tx) => removePasskey(tx, ann.accountId, { id, kept: sessionId }));
  const rows = audit(app).filter(({ verb }) => /Passkey$/.test(verb));
  assert.deepEqual(
    rows.map(({ verb, kind, target_id }) => [verb, kind, target_id]),
    [
      ["addPasskey", "passkey", id],
      ["removePasskey", "passkey", id],
    ],
  );
  assert.match(rows[0]?.changes ?? "", /box\.example\.org/);
  assert.ok(!JSON.stringify(rows).includes(key.credential));
});

for (const [at, wanted] of [
  ["https://box.example.org", party],
  ["https://box.example.org:8443/box", { id: "box.example.org", origin: `${party.origin}:8443` }],
  ["http://localhost:8080", { id: "localhost", origin: "http://localhost:8080" }],
  ["http://a.localhost:1/x", { id: "a.localhost", origin: "http://a.localhost:1" }],
  ["http://box.example.org", "http"],
  ["http://box", "http"],
  ["http://localhost.evil.example", "http"],
  ["https://192.0.2.1", "number"],
  ["http://127.0.0.1:8080", "number"],
  ["https://[2001:db8::1]", "number"],
] as const)
  test(`passkeys at ${at}: ${typeof wanted === "string" ? `none, ${wanted}` : wanted.id}`, () => {
    assert.deepEqual(relyingParty(at), wanted);
  });
