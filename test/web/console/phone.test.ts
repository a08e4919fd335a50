import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import jsQR from "jsqr";
import pino from "pino";
import { listSessions } from "../../../src/people/sessions.ts";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { type PageAnswer, signedIn, type Tab, tabOf } from "../../support/console.ts";

const PUBLIC = "http://box.lan:8080";
const logged: string[] = [];
const secrets: string[] = [];
let box: TestBox;
let ann: Person;
before(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  box = await testBox({ publicUrl: PUBLIC, pairRate: "5" }, handClock(), log);
  ann = box.person("member", "ann@example.org");
});
after(() => box.stop());

/** A page's QR code as a camera reads it: modules of 4 pixels. */
function scanned(text: string): string {
  const [, size = "0"] = /<svg class="qr" viewBox="0 0 (\d+)/.exec(text) ?? [];
  const side = Number(size) * 4;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y] of text.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < 4; row++)
      for (let column = 0; column < 4; column++) {
        const at = ((Number(y) * 4 + row) * side + Number(x) * 4 + column) * 4;
        pixels.fill(0, at, at + 3);
      }
  const read = jsQR as unknown as (
    data: Uint8ClampedArray,
    w: number,
    h: number,
  ) => { data: string } | null;
  return read(pixels, side, side)?.data ?? "";
}

const cookieOf = (answer: PageAnswer, name: string) =>
  answer.headers
    .getSetCookie()
    .find((one) => one.startsWith(`${name}=`))
    ?.replace(/;.*/, "") ?? "";

/** A desk that shows a code; the code, and its page. */
async function shown(desk: Tab): Promise<{ code: string; page: PageAnswer }> {
  await box.clock.turn(60_000);
  assert.equal((await desk.post("/me/phone/link")).status, 303);
  const page = await desk.get("/me/phone");
  const code = /#code=([0-9a-f]{48})/.exec(page.text)?.[1] ?? "";
  secrets.push(code);
  return { code, page };
}

/** The phone that came with the code: its page, and its cookie's tab. */
async function came(code: string): Promise<{ phone: Tab; digits: string }> {
  const done = await tabOf(box, "").post("/phone", { code });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/phone"]);
  const phone = tabOf(box, cookieOf(done, "phone"));
  secrets.push(phone.cookie.slice("phone=".length));
  const { text } = await phone.get("/phone");
  return { phone, digits: /id="digits">(\d\d)</.exec(text)?.[1] ?? "" };
}

const other = (digits: string) => String((Number(digits) + 1) % 100).padStart(2, "0");
const state = async (phone: Tab) => (await phone.get("/phone")).headers.get("x-phone");

test("AC-20.1: the code that is scanned is the link; its page is stored nowhere and shown to its desk alone", async () => {
  const desk = signedIn(box, ann);
  const { code, page } = await shown(desk);
  assert.equal(scanned(page.text), `${PUBLIC}/phone#code=${code}`);
  assert.match(page.text, new RegExp(`<code id="phone-link">${PUBLIC}/phone#code=${code}</code>`));
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.ok(!(await signedIn(box, ann).get("/me/phone")).text.includes(code), "another browser");
  assert.ok(!(await signedIn(box).get("/me/phone")).text.includes(code), "another person");
  const invitation = await signedIn(box).post("/people/invite", { role: "member", hours: "1" });
  const link = /id="invitation">([^<]+)</.exec(invitation.text)?.[1] ?? "-";
  assert.equal(scanned(invitation.text), link, "and so is an invitation's");
});

test("the phone shows two digits, the desk types them, the phone is in with a session of its own", async () => {
  const desk = signedIn(box, ann);
  const { code } = await shown(desk);
  const { phone, digits } = await came(code);
  assert.match((await phone.get("/phone")).text, /This signs you in as <strong>ann@example\.org</);
  assert.equal(await state(phone), "asked");
  const early = await phone.post("/phone");
  assert.deepEqual([early.status, cookieOf(early, "box")], [200, ""], "not before it is answered");
  const page = await desk.get("/me/phone");
  assert.match(page.text, /A phone wants to sign in as you/);
  assert.ok(!page.text.includes(code), "the code is used");
  assert.ok(!page.text.includes(`>${digits}<`), "the desk doesn't know the digits");
  assert.equal((await desk.post("/me/phone/answer", { digits })).status, 303);
  assert.equal(await state(phone), "answered");
  assert.equal((await tabOf(box, "phone=nonsense").post("/phone")).status, 401);
  const done = await phone.post("/phone");
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/alerts"]);
  assert.match(done.headers.getSetCookie().join(), /phone=; Path=\/; Max-Age=0/);
  const inside = tabOf(box, cookieOf(done, "box"));
  secrets.push(inside.cookie.slice("box=".length));
  assert.match((await inside.get("/me/sessions")).text, /phone link/);
  assert.match((await desk.get("/me/phone")).text, /Your phone is signed in/);
  const now = Math.floor(box.clock.now() / 1000);
  const methods = listSessions(box.tenant.store, ann.accountId, now).map(({ method }) => method);
  assert.equal(methods.filter((method) => method === "phone").length, 1);
  assert.equal((await phone.post("/phone")).status, 401, "once");
  const { body } = await box.api("GET", "/v1/sessions", undefined, ann.key);
  assert.ok(body.sessions.some(({ method }: { method: string }) => method === "phone"));
  const { entries } = (await box.api("GET", `/v1/audit?account=${ann.accountId}&limit=20`)).body;
  const told = entries.map(({ verb }: { verb: string }) => verb);
  for (const verb of ["makePhoneLink", "answerPhoneLink", "signIn"])
    assert.ok(told.includes(verb), verb);
});

test("digits that are wrong three times end the code; so do time, another code, taking it back, signing out and a restart", async () => {
  let desk = signedIn(box, ann);
  const wrong = async (digits: string) => {
    const answer = await desk.post("/me/phone/answer", { digits }, { from: "/me/phone" });
    return [answer.status, /(\d) tr(?:y|ies) left/.exec(answer.text)?.[1]];
  };
  const { phone, digits } = await came((await shown(desk)).code);
  assert.deepEqual(await wrong(other(digits)), [422, "2"]);
  assert.deepEqual(await wrong(""), [422, "1"]);
  assert.deepEqual(await wrong(other(digits)), [422, undefined]);
  assert.match((await desk.get("/me/phone")).text, /wrong three times/);
  assert.deepEqual(await wrong(digits), [422, undefined], "also the right ones");
  assert.equal(await state(phone), "over");

  const ends: Record<string, (of: { digits: string }) => unknown> = {
    time: () => box.clock.turn(5 * 60_000),
    "another code": () => shown(desk),
    "taking it back": () => desk.post("/me/phone/cancel"),
    "its desk's end": () => desk.post("/signout"),
    "a restart": () => box.restart(),
  };
  for (const [what, end] of Object.entries(ends)) {
    desk = signedIn(box, ann);
    const link = await came((await shown(desk)).code);
    await end(link);
    const page = await link.phone.get("/phone");
    assert.equal(page.headers.get("x-phone"), "over", what);
    assert.match(page.text, /That code is over: .*the box started anew/, what);
    assert.equal((await link.phone.post("/phone")).status, 401, what);
  }
  const after = await desk.get("/me/phone");
  assert.match(after.text, /Show the code/);
});

test("a code is one phone's; what is no code opens nothing, and tries are limited", async () => {
  const desk = signedIn(box, ann);
  const { code } = await shown(desk);
  await came(code);
  const claim = (text: string, headers = {}) =>
    tabOf(box, "").post("/phone", { code: text }, { headers });
  assert.equal((await claim(code)).status, 401);
  assert.equal((await claim(`${PUBLIC}/phone#code=${"0".repeat(48)}`)).status, 401);
  assert.equal((await claim("")).status, 401);
  const elsewhere = await claim(code, { origin: "https://evil.example" });
  assert.deepEqual([elsewhere.status, elsewhere.headers.getSetCookie()], [403, []]);
  assert.equal((await claim(code)).status, 401);
  const waits = await claim(code);
  assert.equal(waits.status, 429);
  assert.match(waits.text, /Too many tries from your address/);
});

test("a box that only its own machine reaches says so instead of showing a code", async (t) => {
  const own = await testBox();
  t.after(() => own.stop());
  const desk = signedIn(own);
  await desk.post("/me/phone/link");
  const { text } = await desk.get("/me/phone");
  assert.match(text, /can’t come to 127\.0\.0\.1/);
  assert.doesNotMatch(text, /class="qr"|#code=/);
});

test("no code, phone's secret or session stands in the log or the store", () => {
  const kept = logged.join("");
  assert.ok(secrets.length > 10 && kept.length > 0);
  const stored = JSON.stringify([
    box.tenant.store.sql("SELECT * FROM sessions").all(),
    box.tenant.store.sql("SELECT * FROM audit").all(),
  ]);
  for (const secret of secrets) {
    assert.ok(secret.length > 20);
    assert.ok(!kept.includes(secret) && !stored.includes(secret));
  }
});
