import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { openPages } from "../../../src/web/console/open-pages.ts";
import { createRouting } from "../../../src/web/console/routing.ts";
import { screens } from "../../../src/web/console/screens.ts";
import { screensOf } from "../../browser/screens-of.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { type PageAnswer, signedIn, type Tab } from "../../support/console.ts";
import { type Crawled, crawl } from "../../support/crawl.ts";
import { dump } from "../../support/dump.ts";
import { furnish, type House } from "../../support/house.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";

const PUBLIC = "https://box.example.org/box";
const routing = createRouting(screens);

let box: TestBox;
let house: House;
let receiver: Receiver;
const planted: Record<string, string> = {};
before(async () => {
  receiver = await startReceiver();
  box = await testBox({ publicUrl: PUBLIC });
  house = await furnish(box, receiver);
  Object.assign(planted, await plant(house));
});
after(async () => {
  await box.stop();
  await receiver.close();
});

/** Secrets of every sort that a box keeps, each by what it is. */
async function plant({ ann, bob, tokens }: House): Promise<Record<string, string>> {
  const made = async (path: string, body: unknown, field: string, method = "POST") => {
    const answer = await box.api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return String(answer.body[field]);
  };
  const hook = "https://hooks.example.org/services/canary-path?token=canary-query";
  const shop = "/v1/projects/shop";
  await made(`${shop}/integrations`, { type: "slack", name: "chat", webhook_url: hook }, "id");
  await made(
    `${shop}/actions`,
    {
      name: "restart",
      method: "POST",
      url: `${receiver.url}/restart`,
      headers: { Authorization: "Bearer canary-header" },
      body: "canary-body",
    },
    "id",
  );
  await made("/v1/gateways/web_push", { subject: "mailto:o@example.org", test: false }, "", "PUT");
  await made(`${shop}/sources`, { name: "grafana", kind: "grafana" }, "name");
  await made(`${shop}/sources/grafana/keys`, { key: "canary-source-key-0123456" }, "id");
  const report = { title: "Shop is slow", view_password: "canary view password" };
  await made(`${shop}/reports`, report, "id");
  await box.api("PUT", "/v1/relay", {
    relay_url: "http://127.0.0.1:9/v1/relay/rk_0123456789abcdef",
    relay_secret: "canary-relay-".padEnd(43, "s"),
  });
  return {
    hook: await made(`${shop}/webhooks`, { url: `${receiver.url}/x` }, "secret"),
    code: await made("/v1/pair/codes", { role: "member" }, "code"),
    calendar: await made("/v1/accounts/me/calendars", {}, "calendar_url"),
    ownerKey: box.owner.key,
    annKey: ann.key,
    bobKey: bob.key,
    ...tokens,
    session: signedIn(box, bob).cookie.replace(/^box=/, ""),
    anyCanary: "canary",
  };
}

/** A browser that comes by the proxy in front of the box. */
function byProxy(tab: Tab): (path: string) => Promise<PageAnswer> {
  const cookie = tab.cookie.replace(/^box=/, "__Host-box=");
  return (path) => tab.get(path, { cookie, "x-forwarded-proto": "https" });
}

const stored = () =>
  createHash("sha256").update(dump(box.tenant.store.db)).digest("hex").slice(0, 16);

/** No dead link, no form that posts to nothing; answers the screens that were found. */
function holds({ pages, dead, forms }: Crawled): Set<string | undefined> {
  assert.deepEqual(dead, []);
  assert.deepEqual(
    [...forms].filter((path) => routing.form(path) === null && !opens(path)),
    [],
    "forms that post to nothing",
  );
  return new Set([...pages.keys(), ...forms].map((at) => pathOf(at)));
}
const pathOf = (at: string) => routing.screen(at.replace(/\?.*/, ""))?.screen.path;
const opens = (path: string) => openPages.some((page) => page.path === path);

test("every screen is in the list of those that browsers try", () => {
  const paths = new Set(Object.values(screensOf(house)).map(pathOf));
  assert.deepEqual(
    screens.map(({ path }) => path).filter((path) => !paths.has(path)),
    [],
    "give it a line in test/browser/screens-of.ts",
  );
});

test("AC-V5: who follows every link without script finds every page and no dead link, changes nothing, and sees no secret", async (t) => {
  const found = new Set<string | undefined>();
  for (const person of [box.owner, house.bob]) {
    const tab = signedIn(box, person);
    const before = stored();
    const crawled = await crawl((path) => tab.get(path), "/alerts");
    assert.equal(stored(), before, "a GET changed the store");
    for (const path of holds(crawled)) found.add(path);
    for (const [at, { text }] of crawled.pages)
      for (const [what, secret] of Object.entries(planted))
        assert.ok(!text.includes(secret), `${what} stands on ${at}`);
  }
  // The first steps are shown where nothing has been done yet.
  const empty = await testBox();
  t.after(() => empty.stop());
  const first = signedIn(empty);
  for (const path of holds(await crawl((path) => first.get(path), "/alerts"))) found.add(path);
  // What ladders' pages were before: only links that somebody kept lead there.
  const known = new Set([...found, "/simulate"]);
  const missed = screens.map(({ path }) => path).filter((path) => !known.has(path));
  assert.deepEqual(missed, [], "no link leads there");
});

test("AC-21.2: no secret stands in the audit, as it is exported whole", async () => {
  const { status, text } = await signedIn(box).get("/audit/audit.ndjson");
  assert.equal(status, 200);
  assert.ok(text.split("\n").length > 30, "too little was done");
  for (const [what, secret] of Object.entries(planted))
    assert.ok(!text.includes(secret), `${what} stands in the audit`);
});

test("AC-V4: the same below a path behind a proxy", async () => {
  const get = byProxy(signedIn(box));
  const before = stored();
  holds(await crawl(get, "/alerts", "/box"));
  assert.equal(stored(), before);
});
