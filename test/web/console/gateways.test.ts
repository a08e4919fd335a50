import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";

const PAGE = "/system/gateways";
/** Nothing listens there. */
const NOWHERE = "http://127.0.0.1:9";
const SECRET = "tk_secretsecretsecretsecretsecre";

const card = (text: string): string =>
  (/<section id="gateway-ntfy"[\s\S]*?<\/section>/.exec(text)?.[0] ?? "").replace(/\s+/g, " ");

test("an owner sets a gateway up, tries it and removes it; its secret is sealed, and asked anew at another address", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const page = async () => card((await tab.get(PAGE)).text);
  assert.match(await page(), /not set up.*Set up ntfy/);
  const set = (fields: Record<string, string>) => tab.post(`${PAGE}/ntfy`, fields, { from: PAGE });
  // Nothing is stored that the service didn't take, unless that is wanted.
  const refused = await set({ url: NOWHERE, access_token: SECRET, test: "true" });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /The test of these settings failed/);
  assert.ok(!refused.text.includes(SECRET), "a secret isn't sent back");
  assert.match(await page(), /not set up/);
  assert.equal((await set({ url: NOWHERE, access_token: SECRET })).status, 303);
  const stored = await page();
  assert.match(stored, /never tried.*value="http:\/\/127\.0\.0\.1:9"/);
  assert.ok(!stored.includes(SECRET), "a secret is never drawn");
  // At the same address it stays; to another it isn't carried along.
  assert.equal((await set({ url: NOWHERE, access_token: "" })).status, 303);
  const elsewhere = await set({ url: "http://127.0.0.1:10", access_token: "" });
  assert.equal(elsewhere.status, 422);
  assert.match(card(elsewhere.text), /aria-invalid="true"/);
  const [one] = (await box.api("GET", "/v1/gateways")).body.gateways;
  assert.equal(one.url, NOWHERE);
  // *Test* asks the service, and how that ended stands there.
  assert.equal((await tab.post(`${PAGE}/ntfy/test`, {}, { from: PAGE })).status, 303);
  assert.match(await page(), /not accepted: /);
  assert.equal((await tab.post(`${PAGE}/ntfy/remove`, {}, { from: PAGE })).status, 303);
  assert.match(await page(), /not set up/);
  const audit = box.tenant.store
    .sql("SELECT verb FROM audit WHERE via = 'page' ORDER BY id")
    .pluck();
  assert.deepEqual(audit.all(), ["putGateway", "putGateway", "testGateway", "deleteGateway"]);
  const kept = box.tenant.store.sql("SELECT group_concat(changes) FROM audit").pluck().get();
  assert.ok(!String(kept).includes(SECRET), "nor is it in the audit");
});

test("who isn't an owner sees that owners do it, and does nothing", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  for (const role of ["admin", "member"] as const) {
    const tab = signedIn(box, box.person(role, `${role}@example.org`));
    const { text } = await tab.get(PAGE);
    assert.match(text, /Owners set gateways up/);
    assert.doesNotMatch(text, /gateway-ntfy/);
    for (const deed of ["", "/test", "/remove"])
      assert.equal((await tab.post(`${PAGE}/ntfy${deed}`, {}, { from: PAGE })).status, 403, deed);
  }
});
