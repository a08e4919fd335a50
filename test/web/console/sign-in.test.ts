import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { type PageAnswer, tabOf } from "../../support/console.ts";

const PASSWORD = "correct horse é";

/** The session's cookie as the answer sets it. */
function cookieOf(answer: PageAnswer): string {
  const [set = ""] = answer.headers.getSetCookie();
  return set.slice(0, set.indexOf(";"));
}

async function story(t: { after(done: () => unknown): void }, flags = {}) {
  const box = await testBox(flags);
  t.after(() => box.stop());
  const tab = tabOf(box, "");
  const code = async () => (await box.api("POST", "/v1/pair/codes", { role: "admin" })).body.code;
  const pair = async (fields: Record<string, string>, headers = {}) =>
    tab.post("/pair", { code: await code(), password: PASSWORD, ...fields }, { headers });
  return { box, tab, code, pair };
}

test("a seat that is taken in a browser signs it in, and makes a key only where one is asked for", async (t) => {
  const { box, pair } = await story(t);
  const keys = async () => (await box.api("GET", "/v1/keys")).body.keys.length;
  const before = await keys();
  const done = await pair({ email: "ann@example.org", display_name: "Ann" });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/welcome"]);
  const [set = ""] = done.headers.getSetCookie();
  assert.match(set, /^box=[0-9A-Za-z]{43}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/);
  assert.equal(await keys(), before);
  const tab = tabOf(box, cookieOf(done));
  assert.equal((await tab.get("/alerts")).status, 200);
  assert.match((await tab.get("/signout")).text, /ann@example\.org/);

  const withKey = await pair({ email: "bob@example.org", wants_key: "yes" });
  assert.match(withKey.text, /ptk_[^<]+/);
  assert.equal(await keys(), before + 1);
  assert.equal((await tabOf(box, cookieOf(withKey)).get("/alerts")).status, 200);
});

test("another site's form takes no seat and signs nobody in", async (t) => {
  const { pair, tab } = await story(t);
  const elsewhere = { origin: "https://evil.example" };
  const refused = await pair({ email: "eve@example.org" }, elsewhere);
  assert.deepEqual([refused.status, refused.headers.getSetCookie()], [403, []]);
  await pair({ email: "ann@example.org" });
  const fields = { email: "ann@example.org", password: PASSWORD };
  const login = await tab.post("/signin", fields, { headers: elsewhere });
  assert.deepEqual([login.status, login.headers.getSetCookie()], [403, []]);
});

test("a password opens and goes on to where one wanted to go, and to no other host", async (t) => {
  const { box, pair, tab } = await story(t);
  await pair({ email: "ann@example.org" });
  const enter = (to: string, fields = {}) =>
    tab.post(`/signin?to=${encodeURIComponent(to)}`, {
      email: "Ann@Example.org",
      password: PASSWORD,
      ...fields,
    });
  for (const [to, location] of [
    ["/a/1?x=1", "/a/1?x=1"],
    ["https://evil.example/", "/alerts"],
    ["//evil.example/", "/alerts"],
    ["/\\evil.example/", "/alerts"],
    ["/a\r\nSet-Cookie: x=1", "/alerts"],
  ] as const) {
    const done = await enter(to);
    assert.deepEqual([done.status, done.headers.get("location")], [303, location], to);
  }
  const wrong = await enter("/", { password: "not it" });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /This email and password, or this key, is wrong/);
  assert.match(wrong.text, /value="Ann@Example\.org"/);
  assert.doesNotMatch(wrong.text, /not it/);
  const nobody = await enter("/", { email: "nobody@example.org" });
  assert.equal(nobody.status, 401);
  assert.equal(
    nobody.text.replaceAll("nobody@example.org", ""),
    wrong.text.replaceAll("Ann@Example.org", ""),
  );
  assert.equal((await box.api("GET", "/v1/audit?limit=1")).body.entries[0].verb, "signInRefused");
});

test("a key that is pasted opens until it is revoked", async (t) => {
  const { box, tab } = await story(t);
  const { key } = box.person("member", "cy@example.org");
  const done = await tab.post("/signin", { key: ` ${key}\n` });
  assert.equal(done.status, 303);
  const mine = tabOf(box, cookieOf(done));
  assert.equal((await mine.get("/alerts")).status, 200);
  const { key_id: id } = (await box.api("GET", "/v1/me", undefined, key)).body;
  assert.equal((await box.api("DELETE", `/v1/keys/${id}`)).status, 200);
  assert.equal((await mine.get("/alerts")).status, 303);
  assert.equal((await tab.post("/signin", { key: "ptk_x_nonsense" })).status, 401);
});

test("signing out ends the session and its cookie", async (t) => {
  const { box, pair } = await story(t);
  const mine = tabOf(box, cookieOf(await pair({ email: "ann@example.org" })));
  const out = await mine.post("/signout", {}, { from: "/signout" });
  assert.deepEqual([out.status, out.headers.get("location")], [303, "/signin"]);
  assert.match(out.headers.getSetCookie()[0] ?? "", /^box=; Path=\/; Max-Age=0; HttpOnly/);
  assert.equal((await mine.get("/alerts")).status, 303);
});

test("after ten wrong passwords the wait is told, and the right one works after it", async (t) => {
  const { box, pair, tab } = await story(t);
  await pair({ email: "ann@example.org" });
  const enter = (password: string) => tab.post("/signin", { email: "ann@example.org", password });
  for (let n = 0; n < 10; n++) assert.equal((await enter("wrong one")).status, 401);
  const waits = await enter("wrong one");
  assert.equal(waits.status, 429);
  const seconds = Number(waits.headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 60, String(seconds));
  assert.match(waits.text, new RegExp(`${seconds} s`));
  await box.clock.turn(seconds * 1000);
  assert.equal((await enter(PASSWORD)).status, 303);
});

test("tries from one address have the limit of pairing, whatever accounts they are for; others come in", async (t) => {
  const { box, pair, tab } = await story(t, { pairRate: "5", trustedProxy: ["127.0.0.1"] });
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  await pair({ email: "ann@example.org" }, { "x-forwarded-for": "192.0.2.1" });
  const enter = (email: string, address: string) =>
    tab.post("/signin", { email, password: PASSWORD }, from(address));
  for (let n = 0; n < 5; n++)
    assert.equal((await enter(`n${n}@example.org`, "192.0.2.2")).status, 401);
  const waits = await enter("ann@example.org", "192.0.2.2");
  assert.deepEqual([waits.status, waits.headers.get("retry-after")], [429, "12"]);
  assert.match(waits.text, /Too many tries from your address: wait 12 s\./);
  assert.match(waits.text, /value="ann@example\.org"/);
  const key = await tab.post("/signin", { key: "ptk_x" }, from("192.0.2.2"));
  assert.equal(key.status, 429);
  assert.equal((await enter("ann@example.org", "192.0.2.3")).status, 303);
  await box.clock.turn(12_000);
  assert.equal((await enter("ann@example.org", "192.0.2.2")).status, 303);
});

test("a box without an account tells who has its machine how to make the first seat", async (t) => {
  const { box, tab } = await story(t);
  assert.match((await tab.get("/signin")).text, /Sign in/);
  box.tenant.store.db.exec("DELETE FROM api_keys; DELETE FROM accounts");
  const page = await tab.get("/signin");
  assert.match(page.text, /This box has no account yet/);
  // Typed in another folder without it, it would be about another box.
  assert.ok(page.text.includes(`box pair-code --role owner --data ${box.data}`), page.text);
  assert.doesNotMatch(page.text, /password/);
});
