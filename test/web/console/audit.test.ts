import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";
import { signedIn, type Tab, tabOf } from "../../support/console.ts";

let box: TestBox;
let tab: Tab;
before(async () => {
  box = await testBox();
  tab = signedIn(box);
});
after(() => box.stop());

/** Entries of a page, without markup. */
const items = (text: string): string[] =>
  [...text.matchAll(/<li id="audit-\d+">([\s\S]*?)<\/li>/g)].map(([, item = ""]) =>
    item
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  );

test("an entry says who, by what, from where, what and on what, with old and new of each field, and leads to the thing as it is now", async () => {
  await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", dedup_window_minutes: 5 });
  await box.api("PUT", "/v1/projects/shop/rules/errors", { dedup_window_minutes: 7 });
  const hint = box.owner.key.slice(-4);
  const page = await tab.get("/audit?kind=rule&thing=errors");
  const [replaced, created] = items(page.text);
  assert.match(replaced ?? "", /owner@example\.org changed rule errors of shop by the key …/);
  assert.match(
    replaced ?? "",
    new RegExp(`…${hint}, from 127\\.0\\.0\\.1 1 field dedup_window_minutes 5 → 7$`),
  );
  assert.match(created ?? "", /made rule errors .* name none → errors/);
  assert.match(page.text, /href="\/p\/shop\/rules\/errors"/);
  await tab.post("/p/shop/rename", { name: "store" }, { from: "/p/shop" });
  const renamed = await tab.get("/audit?verb=renameProject");
  assert.match(items(renamed.text)[0] ?? "", /project store by page, from 127\.0\.0\.1/);
  assert.match(
    (await tab.get("/audit?kind=project&thing=shop")).text,
    /href="\/p\/store">project shop<\/a> <span class="soft">\(store now\)/,
    "what it was called then",
  );
  const secret = (await tab.get("/audit?kind=source")).text;
  assert.match(secret, /<dt>token<\/dt><dd class="mono"><span class="soft">none<\/span> → changed/);
});

test("each thing's page links to its own part, and what is gone is no link", async () => {
  await box.api("POST", "/v1/projects/store/rules", { name: "late" });
  const rule = (await tab.get("/p/store/rules/late")).text;
  const href = /href="(\/audit\?kind=rule&amp;thing=\d+)">Who changed it/.exec(rule)?.[1] ?? "";
  const own = items((await tab.get(href.replaceAll("&amp;", "&"))).text);
  assert.equal(own.length, 1);
  await tab.post("/p/store/rules/late/delete", {}, { from: "/p/store/rules/late" });
  const gone = (await tab.get("/audit?kind=rule&thing=late")).text;
  assert.equal(items(gone).length, 2);
  assert.doesNotMatch(gone, /href="\/p\/store\/rules\/late"/);
});

test("sign-ins that fail are one entry a minute, with how many", async () => {
  const stranger = tabOf(box, "");
  for (let i = 0; i < 3; i++)
    await stranger.post("/signin", { email: "owner@example.org", password: `wrong ${i}` });
  const page = (await tab.get("/audit?verb=signInRefused")).text;
  assert.deepEqual(items(page).length, 1);
  assert.match(
    items(page)[0] ?? "",
    /Somebody without an account was refused at signing in .* tries none → 3$/,
  );
  assert.doesNotMatch(page, /wrong 0/);
  assert.ok(items((await tab.get("/audit?person=nobody")).text).length >= 1);
});

test("by person, verb and day, page by page to the end, and the same as NDJSON", async () => {
  const ann = box.person("admin", "ann@example.org");
  for (let i = 0; i < 120; i++) await box.api("POST", "/v1/projects", { name: `p${i}` }, ann.key);
  const asked = `/audit?person=${ann.accountId}&verb=createProject`;
  const seen: string[] = [];
  for (let at = asked; at !== ""; ) {
    const { text } = await tab.get(at);
    seen.push(...items(text).map((item) => /project (p\d+)/.exec(item)?.[1] ?? ""));
    at = (/href="([^"]+)">Older</.exec(text)?.[1] ?? "").replaceAll("&amp;", "&");
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 120 }, (_, i) => `p${119 - i}`),
  );
  const file = await tab.get(asked.replace("/audit?", "/audit/audit.ndjson?"));
  assert.match(file.headers.get("content-type") ?? "", /^application\/x-ndjson/);
  assert.match(file.headers.get("content-disposition") ?? "", /filename="audit\.ndjson"/);
  const lines = file.text.trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { target: { name: string } }).target.name),
    seen,
  );
  // The reader's day, not the box's.
  const zoned = tabOf(box, `${tab.cookie}; zone=Pacific%2FAuckland`);
  const day = (zone: string) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: zone }).format(new Date(box.clock.now()));
  assert.ok(items((await zoned.get(`${asked}&day=${day("Pacific/Auckland")}`)).text).length > 0);
  assert.equal(items((await zoned.get(`${asked}&day=2020-01-01`)).text).length, 0);
  for (const odd of ["?day=2026-13-01", "?before=x", "?kind=nothing", "?person=x&thing=y"])
    assert.equal((await tab.get(`/audit${odd}`)).status, 200, odd);
});

test("it is for those who manage: others are told whom to ask, and get no file", async () => {
  const member = signedIn(box, box.person("member"));
  const page = await member.get("/audit");
  assert.equal(page.status, 200);
  assert.match(page.text, /Owners and admins read who changed what\. Ask /);
  assert.deepEqual(items(page.text), []);
  assert.equal((await member.get("/audit/audit.ndjson")).status, 403);
  assert.doesNotMatch((await member.get("/p/store")).text, /Who changed it/);
});
