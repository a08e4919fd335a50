import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { parse } from "parse5";
import { openPages } from "../../../src/web/console/open-pages.ts";
import { createRouting } from "../../../src/web/console/routing.ts";
import { screens } from "../../../src/web/console/screens.ts";
import { screensOf } from "../../browser/screens-of.ts";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { type PageAnswer, signedIn, type Tab } from "../../support/console.ts";
import { type Crawled, crawl } from "../../support/crawl.ts";
import { dump } from "../../support/dump.ts";
import { furnish, type House } from "../../support/house.ts";
import { long, test } from "../../support/long.ts";
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
  await forget(house);
  Object.assign(planted, await plant(house));
});
after(async () => {
  await box.stop();
  await receiver.close();
});

/** Dan stands in for Bob, takes an alert, and is removed. */
async function forget({ alerts }: House): Promise<void> {
  const dan = box.person("admin", "dan@example.org");
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await box.api(method, path, body, dan.key);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  };
  const now = Math.floor(box.clock.now() / 1000);
  const stretch = { account_id: dan.accountId, starts_at: now, ends_at: now + 60 };
  await ask("POST", "/v1/projects/payments/oncall/schedules/primary/overrides", stretch);
  await ask("POST", `/v1/alerts/${alerts.error}/ack`, {});
  await ask("POST", `/v1/alerts/${alerts.critical}/notes`, { text: "It is the bank." });
  await box.clock.turn(120_000);
  const gone = await box.api("DELETE", `/v1/accounts/${dan.accountId}`);
  assert.equal(gone.status, 200, JSON.stringify(gone.body));
}

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

const walks = new Map<string, Promise<Crawled>>();

/** What this person finds who follows every link: walked once. The owner comes by the proxy, below a path. */
function walked(person: Person): Promise<Crawled> {
  const known = walks.get(person.accountId) ?? walk(person);
  walks.set(person.accountId, known);
  return known;
}

async function walk(person: Person): Promise<Crawled> {
  const tab = signedIn(box, person);
  const before = stored();
  const crawled =
    person === box.owner
      ? await crawl(byProxy(tab), "/alerts", "/box")
      : await crawl((path) => tab.get(path), "/alerts");
  assert.equal(stored(), before, "a GET changed the store");
  return crawled;
}

long(
  "AC-V5: who follows every link without script finds every page and no dead link, changes nothing, and sees no secret",
  async (t) => {
    const found = new Set<string | undefined>();
    for (const person of [box.owner, house.bob]) {
      const crawled = await walked(person);
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
  },
);

long("AC-21.2: no secret stands in the audit, as it is exported whole", async () => {
  const { status, text } = await signedIn(box).get("/audit/audit.ndjson");
  assert.equal(status, 200);
  assert.ok(text.split("\n").length > 30, "too little was done");
  for (const [what, secret] of Object.entries(planted))
    assert.ok(!text.includes(secret), `${what} stands in the audit`);
});

long("AC-V4: the same below a path behind a proxy", async () => {
  const { pages } = await walked(box.owner);
  assert.match(pages.get("/alerts")?.text ?? "", /<a [^>]*href="\/box\//);
});

interface Piece {
  nodeName: string;
  value?: string;
  attrs?: { name: string; value: string }[];
  childNodes?: Piece[];
}

/** A relay's address has its key's id in it, which is the thing itself. */
const ID = /(?<![0-9a-f]|\/rk_)([0-9a-f]{16}|[0-9a-f]{64})(?![0-9a-f])/;

/** What only somebody with a key at hand can follow. */
const FOR_PROGRAMS = /with an API key|[Tt]his key|key of an owner/;

/** A page's own address as it is printed, and a body as it was sent: the id is the thing itself. */
const isItself = (at: string, piece: string): boolean =>
  [PUBLIC, box.url].some((own) => piece.startsWith(own)) ||
  (at.includes("/deliveries/") && piece.startsWith("{"));

/** What a person reads on a page: its text, and what stands in titles. */
function visible(text: string): string[] {
  const found: string[] = [];
  const walk = (piece: Piece): void => {
    if (["script", "style", "template"].includes(piece.nodeName)) return;
    if (piece.nodeName === "#text") found.push(piece.value ?? "");
    for (const { name, value } of piece.attrs ?? [])
      if (["title", "aria-label", "alt", "placeholder"].includes(name)) found.push(value);
    for (const child of piece.childNodes ?? []) walk(child);
  };
  walk(parse(text) as Piece);
  return found;
}

/** Each screen once, as this person sees it. */
async function screensFor(person: Person): Promise<ReadonlyMap<string, PageAnswer>> {
  const tab = signedIn(box, person);
  const before = stored();
  const pages = new Map<string, PageAnswer>();
  for (const at of Object.values(screensOf(house))) {
    const page = await tab.get(at);
    // What isn't theirs, or isn't there, says only the number of its request.
    if (page.status === 200) pages.set(at, page);
  }
  assert.ok(pages.size > 40, `${pages.size} screens`);
  assert.equal(stored(), before, "a GET changed the store");
  return pages;
}

const walkedPages = async (person: Person) => (await walked(person)).pages;

test("each screen names people and things, not ids", () => namesNoIds(screensFor));

long("whatever page a link leads to names people and things, not ids", () =>
  namesNoIds(walkedPages),
);

async function namesNoIds(pagesOf: (of: Person) => Promise<ReadonlyMap<string, PageAnswer>>) {
  for (const person of [box.owner, house.bob]) {
    const pages = await pagesOf(person);
    const [ids, forPrograms] = [[] as string[], [] as string[]];
    for (const [at, { text, headers }] of pages) {
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      if (person !== box.owner && FOR_PROGRAMS.test(text)) forPrograms.push(at);
      for (const piece of visible(text))
        if (ID.test(piece) && !isItself(at, piece))
          ids.push(`${at}: ${piece.trim().slice(0, 160)}`);
    }
    assert.deepEqual([...new Set(ids)], []);
    assert.deepEqual(forPrograms, []);
  }
}

long("commands name people and things, not ids", async () => {
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const { critical, error, warn } = house.alerts;
  const commands = [["overview"], ["audit", "--limit", "500"], ["oncall"], ["why", warn]];
  for (const words of [...commands, ["why", error], ["why", critical, "--person", "bob"]]) {
    const { code, out, err } = await run(words, { env });
    assert.equal(code, 0, err);
    const ids = out.split("\n").filter((line) => ID.test(line.replace(/\(key [0-9a-f]{16} /, "")));
    assert.deepEqual(ids, [], words.join(" "));
  }
  const { out } = await run(["audit", "--limit", "500"], { env });
  assert.match(out, /participants.*ann@example\.org|layers.*ann@example\.org/);
  assert.match(out, /dan@example\.org {2}createOverride/);
});

long("a calendar has no ids of people who were removed", async () => {
  const shown = { schedule: "payments/primary" };
  const { body } = await box.api("POST", "/v1/accounts/me/calendars", shown);
  const text = await (await fetch(body.calendar_url.replace(PUBLIC, box.url))).text();
  const titles = text.split("\r\n").filter((line) => line.startsWith("SUMMARY"));
  assert.ok(titles.some((line) => line.includes("somebody who was removed")));
  assert.deepEqual(
    titles.filter((line) => ID.test(line)),
    [],
  );
});
