import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import pino from "pino";
import type { Role } from "../../src/ground/store/columns.ts";
import { removeAccount } from "../../src/people/accounts.ts";
import { issueCode } from "../../src/people/codes.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { tabOf } from "../support/console.ts";
import { dump } from "../support/dump.ts";
import {
  atProvider,
  CLIENT,
  type Claims,
  hostileProvider,
  type Lie,
  realProvider,
} from "../support/provider.ts";

let clock: HandClock;
let box: TestBox;
let real: Awaited<ReturnType<typeof realProvider>>;
let hostile: Awaited<ReturnType<typeof hostileProvider>>;
/** The claims of the real provider, by person. */
const people: Record<string, Claims> = {};
const logged: string[] = [];
const pages: string[] = [];
let ids = { real: "", hostile: "" };

before(async () => {
  // The real provider reads the machine's clock.
  clock = handClock(Date.now());
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  box = await testBox({ logLevel: "trace" }, clock, pino({ level: "trace" }, sink));
  [real, hostile] = await Promise.all([
    realProvider(people, [`${box.url}/signin/oidc/callback`]),
    hostileProvider(),
  ]);
  const add = async (name: string, issuer: string, more: object) => {
    const client = { client_id: CLIENT.id, client_secret: CLIENT.secret };
    const { status, body } = await box.api("POST", "/v1/sign-in/providers", {
      name,
      issuer,
      ...client,
      ...more,
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.redirect_uri, `${box.url}/signin/oidc/callback`);
    return String(body.id);
  };
  hostile.lies({}, seconds());
  ids = {
    real: await add("Lab", real.issuer, {
      scopes: ["openid", "email", "profile", "groups"],
      domains: ["open.example"],
    }),
    hostile: await add("Crooks", hostile.issuer, {}),
  };
});
after(async () => {
  real.close();
  hostile.close();
  await box.stop();
});

const seconds = () => Math.floor(clock.now() / 1000);
const sql = <T>(text: string, ...values: unknown[]) =>
  box.tenant.store.sql<unknown[], T>(text).all(...values);
const account = (email: string) =>
  sql<{ id: string; role: Role }>("SELECT id, role FROM accounts WHERE email = ?", email)[0];
const sessions = () => box.tenant.store.sql("SELECT count(*) FROM sessions").pluck().get();
const change = (id: string, body: object) =>
  box.api("PUT", `/v1/sign-in/providers/${id}`, { test: false, ...body });

/** A browser that was sent to a provider. */
async function begin(provider: string, to = "/people") {
  const at = `/signin/oidc?provider=${provider}&to=${encodeURIComponent(to)}`;
  const answer = await tabOf(box, "").get(at);
  const cookie = (answer.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  return { answer, cookie, url: answer.headers.get("location") ?? "" };
}

/** What the browser gets when it comes back: where it goes, or why it isn't signed in. */
async function comeBack(href: string, cookie: string) {
  const { pathname, search } = new URL(href);
  const answer = await tabOf(box, cookie).get(pathname + search);
  pages.push(answer.text);
  const session = answer.headers.getSetCookie().find((set) => set.startsWith("box="));
  const said = /role="alert" id="wrong">([^<]*)</.exec(answer.text)?.[1] ?? "";
  const told =
    answer.status === 303 ? `in ${answer.headers.get("location")}` : `${answer.status} ${said}`;
  return { told, cookie: session?.split(";")[0] ?? "" };
}

/** The whole sign-in at the real provider. */
async function signIn(login: string, claims: Claims, how: { cancel?: boolean } = {}) {
  people[login] = claims;
  const { url, cookie } = await begin(ids.real);
  return comeBack(await atProvider(url, login, how), cookie);
}

const verified = (email: string, more: Claims = {}) => ({ email, email_verified: true, ...more });
const invite = (email: string, role: Role = "member") =>
  box.tenant.store.write((tx) => issueCode(tx, null, { role, email, ttlSeconds: 3600 }));

test("a person with an account signs in at a real provider, lands on the requested page, and is known by subject afterwards", async () => {
  const { accountId } = box.person("admin", "ann@example.org");
  const { told, cookie } = await signIn("ann-1", verified("Ann@Example.org", { name: "Ann" }));
  assert.equal(told, "in /people");
  const page = await tabOf(box, cookie).get("/me/sessions");
  assert.match(page.text, /ann@example\.org|Came in by">Lab/);
  assert.match(page.text, /Came in by">Lab</);
  const [session] = sql<object>(
    "SELECT account_id, method, provider FROM sessions WHERE account_id = ?",
    accountId,
  );
  assert.deepEqual({ ...session }, { account_id: accountId, method: "oidc", provider: "Lab" });
  const rows = sql<{ verb: string; kind: string; account_id: string }>(
    "SELECT verb, kind, account_id FROM audit WHERE hint = 'oidc' ORDER BY id",
  );
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { verb: "signIn", kind: "provider_link", account_id: accountId },
      { verb: "signIn", kind: "session", account_id: accountId },
    ],
  );
  const other = await signIn("ann-1", { email: "changed@elsewhere.example" });
  assert.equal(other.told, "in /people", "the address counts the first time only");
  assert.equal(
    (await signIn("mallory", verified("ann@example.org"))).told,
    "401 The account with your address belongs to another identity at Lab.",
  );
  assert.equal((await begin(ids.real, "//evil.example/x")).answer.status, 303);
  const { url, cookie: own } = await begin(ids.real, "//evil.example/x");
  assert.equal((await comeBack(await atProvider(url, "ann-1"), own)).told, "in /alerts");
});

test("a first sign-in needs an invitation, or a verified address of an allowed domain", async () => {
  invite("bob@example.org");
  invite("Bob@Example.org", "admin");
  const cases: [string, Claims, string][] = [
    ["bob", { email: "bob@example.org" }, "unverified"],
    ["bob", { email: "bob@example.org", email_verified: "true" }, "unverified"],
    ["bob", {}, "unverified"],
    ["bob", verified("not an address"), "unverified"],
    ["bob", verified("bob@example.org"), "in"],
    ["cyd", verified("cyd@example.org"), "no invitation"],
    ["dan", verified("dan@open.example"), "in"],
    ["eve", verified("eve@sub.open.example"), "no invitation"],
    ["eve", verified("eve@open.example.evil.example"), "no invitation"],
  ];
  for (const [login, claims, wanted] of cases) {
    const before = sessions();
    const { told } = await signIn(login, claims);
    const isIn = wanted === "in";
    const word = wanted === "unverified" ? /address is verified/ : /no invitation/;
    assert.match(told, isIn ? /^in / : word, `${login} ${JSON.stringify(claims)}`);
    assert.equal(Number(sessions()) - Number(before), isIn ? 1 : 0);
  }
  assert.equal(account("bob@example.org")?.role, "admin", "the better invitation");
  assert.equal(account("dan@open.example")?.role, "member");
  assert.equal(account("cyd@example.org"), undefined);
});

test("a removed person needs an invitation to come back, also from an allowed domain", async () => {
  await signIn("fay", verified("fay@open.example"));
  const { id } = account("fay@open.example") ?? assert.fail();
  box.tenant.store.write((tx) => removeAccount(tx, null, id));
  assert.match((await signIn("fay", verified("fay@open.example"))).told, /was removed/);
  invite("fay@open.example");
  assert.match((await signIn("fay", verified("fay@open.example"))).told, /^in /);
  // Also a person who never used a provider before, or uses another one.
  const { accountId } = box.person("member", "Flo@open.example");
  box.tenant.store.write((tx) => removeAccount(tx, null, accountId));
  assert.match((await signIn("flo", verified("flo@OPEN.example"))).told, /was removed/);
  invite("flo@open.example");
  assert.match((await signIn("flo", verified("flo@open.example"))).told, /^in /);
});

test("roles follow the groups at each sign-in, and the last owner stays one", async () => {
  await change(ids.real, { roles: { chiefs: "owner", crew: "admin", 7: "owner", true: "owner" } });
  const { accountId } = box.person("member", "gil@example.org");
  const roleAfter = async (groups: unknown) => {
    await signIn("gil", verified("gil@example.org", { groups }));
    return account("gil@example.org")?.role;
  };
  assert.equal(await roleAfter(["crew", "chiefs"]), "owner");
  assert.equal(await roleAfter("crew"), "admin", "one group that isn't in a list");
  assert.equal(await roleAfter(["__proto__", "constructor", 7, true, ["crew"]]), "member");
  for (const odd of [7, true, null, { crew: true }, "crew,chiefs"])
    assert.equal(await roleAfter(odd), "member", JSON.stringify(odd));
  assert.equal(await roleAfter(["chiefs"]), "owner");
  // No other owner can sign in.
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET role = 'admin' WHERE id <> ? AND role = 'owner'").run(accountId),
  );
  box.tenant.store.write((tx) =>
    tx.sql("DELETE FROM api_keys WHERE account_id = ?").run(accountId),
  );
  assert.equal(await roleAfter([]), "owner");
  const [row] = sql<{ changes: string }>(
    "SELECT changes FROM audit WHERE verb = 'lastOwnerStays' AND target_id = ?",
    accountId,
  );
  assert.deepEqual(JSON.parse(row?.changes ?? ""), [
    { field: "role_by_groups", from: null, to: "member" },
  ]);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET role = 'owner' WHERE id = ?").run(box.owner.accountId),
  );
  assert.equal(await roleAfter(undefined), "member");
  await change(ids.real, { roles: {} });
});

test("a declined sign-in, a provider's new keys, and a provider that is down", async () => {
  const no = await signIn("ann-1", {}, { cancel: true });
  assert.equal(no.told, "401 You declined at Lab, or Lab refused you.");
  await real.rotate();
  const { told, cookie } = await signIn("ann-1", {});
  assert.equal(told, "in /people");
  // Its metadata is still cached: only the way back fails.
  const { url, cookie: own } = await begin(ids.real);
  const back = await atProvider(url, "ann-1");
  real.down();
  assert.equal(
    (await comeBack(back, own)).told,
    "401 Lab can&#39;t be reached now: sign in another way.",
  );
  await clock.turn(60_000);
  const { answer } = await begin(ids.real);
  assert.equal(answer.status, 401);
  assert.match(answer.text, /Lab can(?:'|&#39;)t be reached now/);
  assert.match(answer.text, /type="password"/, "the other ways are there");
  assert.equal((await tabOf(box, cookie).get("/alerts")).status, 200, "sessions go on");
  const looked = await box.api("POST", `/v1/sign-in/providers/${ids.real}/test`);
  assert.equal(looked.body.ok, false);
});

test("no invalid answer of a provider signs anybody in", async () => {
  const late = (by: number): Lie => ({ claims: { exp: seconds() - by } });
  const answers = (name: keyof NonNullable<Lie["answers"]>, status: number, body: string): Lie => ({
    answers: {
      [name]: (
        _: unknown,
        response: { writeHead: (n: number, h: object) => { end(b: string): void } },
      ) => response.writeHead(status, { "content-type": "application/json" }).end(body),
    },
  });
  const cases: [string, Lie, Record<string, string>, RegExp][] = [
    ["what is right", {}, {}, /^in /],
    ["another nonce", { claims: { nonce: "another" } }, {}, /invalid/],
    ["no nonce", { claims: { nonce: undefined } }, {}, /invalid/],
    ["another issuer in the address", {}, { iss: "https://evil.example" }, /invalid/],
    ["another issuer in the token", { claims: { iss: "https://evil.example" } }, {}, /invalid/],
    ["another audience", { claims: { aud: "another" } }, {}, /invalid/],
    ["no subject", { claims: { sub: undefined } }, {}, /invalid/],
    // The library reads the machine's clock, which differs from the box's hand-turned one.
    ["a token of 58 s ago", late(58), {}, /^in /],
    ["a token of 62 s ago", late(62), {}, /out of date/],
    ["a token from later", { claims: { nbf: seconds() + 70 } }, {}, /out of date/],
    ["another's key", { isForged: true }, {}, /invalid/],
    ["a key that isn't listed", { header: { kid: "unknown" } }, {}, /invalid/],
    ["no signature", { header: { alg: "none" } }, {}, /invalid/],
    ["a shared secret's signature", { header: { alg: "HS256" } }, {}, /invalid/],
    ["a code that isn't taken", answers("token", 400, '{"error":"invalid_grant"}'), {}, /refused/],
    ["a fault", answers("token", 500, "{}"), {}, /reached/],
    ["no JSON", answers("token", 200, "<html>"), {}, /invalid/],
    ["far too much", answers("token", 200, " ".repeat(300_000)), {}, /reached/],
    ["no keys", answers("keys", 500, "{}"), {}, /reached/],
    ["no keys in the list", answers("keys", 200, '{"keys":[]}'), {}, /invalid/],
    ["an error that is markup", {}, { error: "<script>alert(1)</script>" }, /refused/],
    ["another's claims", { claims: { email: undefined } }, {}, /invalid/],
  ];
  for (const [what, lie, query, wanted] of cases) {
    hostile.lies(lie, seconds());
    const { url, cookie } = await begin(ids.hostile);
    const before = sessions();
    const { told } = await comeBack(hostile.passed(url, query), cookie);
    assert.match(told, wanted, what);
    assert.equal(Number(sessions()) - Number(before), told.startsWith("in") ? 1 : 0, what);
  }
  assert.ok(!pages.some((page) => page.includes("<script>alert")));
});

test("a provider's redirect is valid once, for ten minutes, and for the browser that began", async () => {
  hostile.lies({}, seconds());
  const over = /^401 That sign-in is over/;
  const { url, cookie } = await begin(ids.hostile);
  const sent = new URL(url).searchParams;
  assert.equal(sent.get("code_challenge_method"), "S256");
  const back = hostile.passed(url);
  const asked = hostile.asked.length;
  assert.match((await comeBack(back, "")).told, over, "another browser");
  assert.match((await comeBack(back, "oidc=x")).told, over);
  const stranger = await begin(ids.hostile);
  assert.match((await comeBack(back, stranger.cookie)).told, over);
  assert.equal(hostile.asked.length, asked, "the code went nowhere");
  assert.match((await comeBack(back, cookie)).told, /^in /);
  assert.match((await comeBack(back, cookie)).told, over, "once more");
  const late = await begin(ids.hostile);
  await clock.turn(10 * 60_000);
  hostile.lies({}, seconds());
  assert.match((await comeBack(hostile.passed(late.url), late.cookie)).told, over);
  assert.equal((await begin("0123456789abcdef")).answer.status, 401, "no such provider");
});

test("behind a proxy the redirect uses the public address and path, and the cookies need https", async (t) => {
  const open = await testBox({ publicUrl: "https://alerts.example/box" }, clock);
  t.after(() => open.stop());
  hostile.lies({ claims: { email: "owner@example.org" } }, seconds());
  const { body } = await open.api("POST", "/v1/sign-in/providers", {
    name: "Crooks",
    issuer: hostile.issuer,
    client_id: CLIENT.id,
  });
  assert.equal(body.redirect_uri, "https://alerts.example/box/signin/oidc/callback");
  const forwarded = { "x-forwarded-for": "192.0.2.1" };
  const begun = await tabOf(open, "").get(`/signin/oidc?provider=${body.id}&to=/me`, forwarded);
  const url = begun.headers.get("location") ?? "";
  assert.equal(new URL(url).searchParams.get("redirect_uri"), body.redirect_uri);
  const [cookie = ""] = begun.headers.getSetCookie();
  assert.match(
    cookie,
    /^__Host-oidc=\w{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const { search } = new URL(hostile.passed(url));
  const back = await tabOf(open, cookie.split(";")[0] ?? "").get(
    `/signin/oidc/callback${search}`,
    forwarded,
  );
  assert.deepEqual([back.status, back.headers.get("location")], [303, "/box/me"]);
  assert.match(
    back.headers.getSetCookie().join(),
    /__Host-box=\w{43};.*__Host-oidc=; Path=\/; Max-Age=0/,
  );
});

test("a provider that names another issuer, or doesn't answer, is not stored", async () => {
  const body = { name: "X", issuer: hostile.issuer, client_id: "box" };
  const add = (more: object) => box.api("POST", "/v1/sign-in/providers", { ...body, ...more });
  hostile.lies({ settings: { issuer: "https://evil.example" } }, seconds());
  assert.equal((await add({})).body.error.code, "gateway_refused");
  hostile.lies({ answers: { settings: () => {} } }, seconds());
  const waiting = add({});
  const turning = (async () => {
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.turn(1000);
    }
  })();
  assert.match((await waiting).body.error.message, /can't be reached now.*timeout/);
  await turning;
  for (const issuer of ["http://id.example.org", "https://id.example.org?x=1", "ftp://x", "x"])
    assert.equal((await add({ issuer })).status, 400, issuer);
  assert.equal(
    (await add({ issuer: "https://169.254.169.254" })).body.error.code,
    "address_refused",
  );
  const moved = await change(ids.hostile, { issuer: "https://id.example.org" });
  assert.equal(moved.body.error.code, "missing_credential", "no other issuer gets the secret");
  assert.equal((await box.api("GET", "/v1/sign-in/providers")).body.providers.length, 2);
});

/** Runs a command against the box, or in its directory. */
async function command(words: string[], input = "") {
  const at =
    words[1] === "password" ? ["--data", box.data] : ["--url", box.url, "--key", box.owner.key];
  const { code, out, err } = await run([...words, ...at], { input });
  return code === 0 ? out.trim() : `${code} ${err.trim()}`;
}

test("the commands add, change, try and remove a provider, and the secret needs no argument", async () => {
  hostile.lies({}, seconds());
  const provider = (...words: string[]) => command(["sign-in", "provider", ...words], "s3cret\n");
  const settings = ["--issuer", hostile.issuer, "--client-id", "b", "--client-secret", "-"];
  const added = await provider("add", "--name", "Third", ...settings, "--domain", "a.example");
  assert.match(
    added,
    /^Third is stored: [0-9a-f]{16}\nredirect URI {2}http.*\/signin\/oidc\/callback$/,
  );
  const id = /: (\w+)/.exec(added)?.[1] ?? "";
  const changed = await provider("change", id, "--role", "a=b=owner", "crew=member", "--no-test");
  assert.match(changed, /^Third is stored/);
  const { body } = await box.api("GET", `/v1/sign-in/providers/${id}`);
  const { roles, domains, has_secret, client_id } = body;
  assert.deepEqual({ ...roles }, { "a=b": "owner", crew: "member" });
  assert.deepEqual([domains, has_secret, client_id], [["a.example"], true, "b"]);
  assert.match(await provider("list"), /Third +http/);
  assert.equal(await provider("test", id), "it answers");
  assert.match(await provider("change", id, "--role", "crew"), /GROUP=ROLE/);
  assert.equal(await provider("remove", id), `removed ${id}`);
});

test("passwords can be turned off once an owner has signed in another way, which then can't be removed", async () => {
  const off = () => box.api("PUT", "/v1/sign-in", { password: false });
  assert.equal((await off()).body.error.code, "last_owner");
  assert.match(await command(["sign-in", "password", "off"]), /no owner could sign in/);
  hostile.lies({ claims: { sub: "own", email: "owner@example.org" } }, seconds());
  const { url, cookie } = await begin(ids.hostile);
  await comeBack(hostile.passed(url), cookie);
  assert.equal((await off()).status, 200);
  const page = await tabOf(box, "").get("/signin");
  assert.doesNotMatch(page.text, /autocomplete="current-password"/);
  assert.match(page.text, /Sign in with Crooks/);
  const typed = { email: "owner@example.org", password: "correct horse" };
  const answer = await tabOf(box, "").post("/signin", typed);
  assert.deepEqual(
    [answer.status, answer.text.includes("Signing in with a password is turned off here")],
    [401, true],
  );
  const gone = await box.api("DELETE", `/v1/sign-in/providers/${ids.hostile}`);
  assert.equal(gone.body.error.code, "last_owner");
  assert.equal(await command(["sign-in", "password", "on"]), "passwords are on");
  assert.deepEqual((await box.api("GET", "/v1/sign-in")).body, { password: true });
  assert.equal((await box.api("DELETE", `/v1/sign-in/providers/${ids.hostile}`)).status, 200);
  assert.equal((await begin(ids.hostile)).answer.status, 401);
});

test("no secret, code or token stands in a log, an answer, a page or the store", async () => {
  const list = JSON.stringify((await box.api("GET", "/v1/sign-in/providers")).body);
  const everything = [...logged, ...pages, list, dump(box.tenant.store.db)].join("\n");
  for (const canary of [CLIENT.secret, "canary-code-3b", "canary-access-token-7c", "eyJ"])
    assert.ok(!everything.includes(canary), canary);
  assert.match(everything, /a provider signed nobody in/);
});

test("the audit shows a provider's secret as changed only if it changed", async () => {
  const at = `/v1/sign-in/providers/${ids.real}`;
  const told = async (change: object) => {
    assert.equal((await box.api("PUT", at, { ...change, test: false })).status, 200);
    const { entries } = (await box.api("GET", "/v1/audit?verb=changeSignInProvider&limit=1")).body;
    return entries[0].changes.map(({ field }: { field: string }) => field);
  };
  assert.deepEqual(await told({ name: "Laboratory" }), ["name"]);
  assert.deepEqual(await told({ client_secret: CLIENT.secret, name: "Lab" }), ["name"]);
  assert.deepEqual(await told({ client_secret: "another" }), ["client_secret"]);
  assert.deepEqual(await told({ client_secret: CLIENT.secret }), ["client_secret"]);
});
