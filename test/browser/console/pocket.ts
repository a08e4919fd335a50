/** The console in a pocket: what works without the box, and what a push does, in a browser's own service worker. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Browser } from "playwright-core";
import type { TestBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle, untilSo } from "../../support/until.ts";
import { findings, type Tab } from "../tab.ts";
import { onStage, type Stage, seen } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

async function scene(box: TestBox) {
  const bob = box.person("member", "bob@example.org");
  const token = await box.project("shop");
  const step = (after_minutes: number, account: string) => ({
    after_minutes,
    accounts: [account],
    schedules: [],
    repeat_minutes: 0,
  });
  const rule = {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [step(0, box.owner.accountId), step(15, bob.accountId)],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const fire = async (n: string, message = "payment 4711 failed") => {
    await box.ingest(token, { message, level: 500, keys: { n } });
    await settle(box);
  };
  await fire("a");
  return { bob, fire };
}

/** Goes to its page again and again until the worker is in charge. */
export async function governed(tab: Tab): Promise<void> {
  await tab.run("navigator.serviceWorker.ready.then(() => 0)");
  await tab.page.reload();
  await seen(tab, "navigator.serviceWorker.controller !== null");
}

const textOf = (tab: Tab, place: string): Promise<string> =>
  tab.page.textContent(place).then((text) => text ?? "");

/** AC-23.4: without a network what was seen is there, with its hour, and nothing is asked for but again. */
const readsOffline: Step = async ({ box, visit, run }) => {
  await scene(box);
  const tab = await visit("/alerts");
  // Also the page by which somebody came first, before there was a worker to see it.
  await seen(tab, `caches.match("/alerts", { cacheName: "pages" })`);
  assert.equal(await tab.run("navigator.serviceWorker.controller"), null);
  await governed(tab);
  const { page } = tab;
  await page.goto(`${box.url}/a/1`);
  await page.context().setOffline(true);
  tab.noise.length = 0;
  for (const path of ["/alerts", "/a/1"]) {
    await page.goto(box.url + path);
    assert.match(await textOf(tab, "#bar"), /can’t be reached · shown as of \d\d:\d\d/, path);
    assert.match(await textOf(tab, "main"), /payment 4711 failed/);
    assert.match(
      await textOf(tab, "main"),
      /bob@example\.org[^.]*09:15, if nothing changed|09:15 · if nothing changed/,
    );
    assert.equal(await page.locator("time[data-until]").count(), 0, path);
    // What comes first stands below the heading, which stands below the line that the box can't be reached.
    const from = await tab.run(
      `document.querySelector("main section").getBoundingClientRect().top - (document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0)`,
    );
    assert.ok(Number(from) >= -1, `${path}: ${from} px lie below the heading`);
    assert.deepEqual(await findings(tab), [], path);
  }
  const other = await page.goto(`${box.url}/people`);
  assert.equal(other?.status(), 503);
  assert.match(await textOf(tab, "main"), /Not kept offline.*Alerts as of .*#1 payment/s);
  assert.deepEqual(await findings(tab), []);
  await page.click("main a[href='/a/1']");
  await seen(tab, `location.pathname === "/a/1"`);

  // One of four forms is held; another is refused, and what was typed stays.
  await page.click("#actions button");
  await seen(tab, `/Not sent: Acknowledge #1/.test(document.querySelector("#held")?.textContent)`);
  await seen(
    tab,
    `/Not sent: .* “Acknowledge #1” is held here/.test(document.querySelector("#said")?.textContent)`,
  );
  assert.match(await textOf(tab, "#head .state"), /Open/);
  const whole = `document.querySelector("#held").getBoundingClientRect().top >=
    document.querySelector("#bar > .unreached").getBoundingClientRect().bottom - 1`;
  for (const place of [0, 400]) {
    await tab.run(`scrollTo(0, ${place})`);
    assert.ok(await tab.run(whole), `scrolled to ${place}`);
  }
  await tab.run("scrollTo(0, 0)");
  await page.fill("#note-text", "we look at it");
  await page.click("#note button");
  await seen(tab, `/Note on #1.*we look at it/.test(document.querySelector("#held")?.textContent)`);
  // At the end the bar of actions stands in its own place, and over no link.
  await tab.run("scrollTo(0, document.documentElement.scrollHeight)");
  assert.deepEqual(await findings(tab), [], "with what isn't sent");
  await page.click("#silence > summary");
  await page.fill("#silence-reason", "known");
  await page.check("#silence-critical");
  await page.click("#silence button");
  await seen(tab, `/Not known to be done/.test(document.querySelector("#said").textContent)`);
  assert.equal(await page.inputValue("#silence-reason"), "known");
  await page.reload();
  await seen(
    tab,
    `/Acknowledge #1.*Note on #1/.test(document.querySelector("#held")?.textContent)`,
  );
  const asked = tab.noise
    .filter((line) => line.startsWith("request: "))
    .map((line) => new URL(line.slice("request: ".length)).pathname);
  // What a silence would do is asked for beside its form, where the machine leaves time for it.
  const others = asked.filter(
    (path) => !/^\/(?:live|assets\/.*|a\/1\/(?:ack|note|silence|silence\/try))$/.test(path),
  );
  assert.deepEqual(others, [], "only what is tried again, and files out of the cache");
  assert.equal(stateOf(box), "open");

  // The box is back: both go, once, and the page is of now.
  const stop = run();
  await page.context().setOffline(false);
  await seen(
    tab,
    `/Sent: Acknowledge #1\\. Acknowledged #1\\. Sent: Note on #1\\. Noted on #1\\./.test(document.querySelector("#held")?.textContent)`,
  );
  await seen(tab, `/has it/.test(document.querySelector("#head .state").textContent)`);
  assert.equal(await page.locator("#bar > .unreached").count(), 0);
  assert.deepEqual(
    [stateOf(box), kindsOf(box, "acknowledged"), kindsOf(box, "noted")],
    ["acknowledged", 1, 1],
  );
  await stop();
};

const stateOf = (box: TestBox) =>
  box.tenant.store.sql("SELECT state FROM alerts WHERE id = 1").pluck().get();
const kindsOf = (box: TestBox, kind: string) =>
  box.tenant.store
    .sql("SELECT count(*) FROM timeline WHERE alert_id = 1 AND kind = ?")
    .pluck()
    .get(kind);

/** What is too old isn't sent by itself; signed out, nothing of it all stays. */
const sendsNothingLate: Step = async ({ box, visit }) => {
  const { bob } = await scene(box);
  const tab = await visit("/alerts");
  await governed(tab);
  const { page } = tab;
  const context = page.context();
  await page.goto(`${box.url}/a/1`);
  await context.setOffline(true);
  await page.click("#actions button");
  await seen(tab, `/Not sent: Acknowledge #1/.test(document.querySelector("#held")?.textContent)`);
  const [worker] = context.serviceWorkers();
  assert.ok(worker);
  await worker.evaluate("{ const now = Date.now; Date.now = () => now() + 15 * 60_000; }");
  await context.setOffline(false);
  await page.reload();
  await seen(tab, `/too long ago/.test(document.querySelector("#held")?.textContent)`);
  await page.waitForTimeout(2000);
  assert.equal(stateOf(box), "open");
  await page.click("#held button:text('Send now')");
  await seen(tab, `/Sent: Acknowledge #1/.test(document.querySelector("#held")?.textContent)`);
  assert.equal(stateOf(box), "acknowledged");

  // Whoever comes next finds nothing of it, nor does who is signed out.
  const whose = () =>
    tab.run(`caches.open("pages").then(async (pages) => {
      const texts = await Promise.all((await pages.keys()).map(async (one) => (await pages.match(one)).text()));
      return [...new Set(texts.map((text) => / data-who="(\\w+)"/.exec(text)?.[1]))];
    })`);
  const areKept = (of: string[]) =>
    untilSo(async () => isDeepStrictEqual(await whose(), of), `kept pages are of ${of}`);
  await areKept([box.owner.accountId]);
  const comes = async (cookie: string) => {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url: box.url }]);
    await page.goto(`${box.url}/alerts`);
  };
  await comes(signedIn(box, bob).cookie);
  await areKept([bob.accountId]);
  await comes("box=over");
  assert.match(page.url(), /\/signin/);
  await areKept([]);
  await comes(signedIn(box).cookie);

  await worker.evaluate(`PushManager.prototype.getSubscription = async () => ({
    unsubscribe: async () => void (await fetch("/v1/unsubscribed").catch(() => {})),
  })`);
  const unsubscribed = context.waitForEvent("request", {
    predicate: (request) => request.url().endsWith("/v1/unsubscribed"),
  });
  await page.goto(`${box.url}/signout`);
  await page.click("main button");
  await unsubscribed;
  await page.waitForURL("**/signin");
  assert.deepEqual(
    await tab.run(
      `Promise.all([caches.keys(), indexedDB.databases(), navigator.serviceWorker.getRegistrations().then((all) => all.length)]).then(([kept, stored, workers]) => [...kept, ...stored, ...Object.keys(localStorage), workers])`,
    ),
    [0],
  );
};

const STEPS: Record<string, Step> = { readsOffline, sendsNothingLate };

export async function pocketHolds(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    await onStage(browser, step).catch((error) => {
      throw new Error(`pocket, ${name}: ${error.message}`, { cause: error });
    });
    console.log(`  ok pocket ${name}`);
  }
}
