/** The wall: read from five metres, live, and honest for weeks about what it doesn't know. */
import assert from "node:assert/strict";
import type { Browser, CDPSession } from "playwright-core";
import { type Tab, withoutStatus } from "../tab.ts";
import { onStage, type Stage, seen } from "./stage.ts";

const SCREEN = { viewport: { width: 1920, height: 1080 } };

async function begun({ box }: Stage) {
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", identifier_keys: ["n"] });
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  for (const [name, participants] of Object.entries({ primary: [box.owner.accountId], nights: [] }))
    await box.api("POST", "/v1/projects/shop/oncall/schedules", {
      name,
      timezone: "Europe/Berlin",
      layers: participants.length > 0 ? [{ ...layer, participants }] : [],
    });
  const fire = async (n: number) => {
    const message = `payment ${4000 + n} failed after ${n} s at a provider with a name that is long, and longer still`;
    const level = [500, 400, 300, 200, 100][n % 5];
    assert.equal((await box.ingest(token, { message, level, keys: { n: `${n}` } })).status, 202);
  };
  const { body } = await box.api("POST", "/v1/walls", { name: "Corridor" });
  return { fire, id: String(body.id), link: String(body.wall_url) };
}

/** Of each text that is shown: its size in pixels, its contrast with the ground, and what it is. */
const TEXTS = `[...document.querySelectorAll(".what, .about, .badge, h1, h2")].map((element) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(element);
  const [one, other] = [light(style.color), light(getComputedStyle(document.body).backgroundColor)].sort((a, b) => b - a);
  return { what: element.className || element.localName, size: parseFloat(style.fontSize), contrast: (one + 0.05) / (other + 0.05) };
})`;

/** As large as five metres want it on a screen of 43 inches, whatever its colours, and nothing cut. */
async function readsFromAfar(tab: Tab): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await tab.page.emulateMedia({ colorScheme });
    const texts = (await tab.run(TEXTS)) as { what: string; size: number; contrast: number }[];
    assert.ok(texts.length > 10);
    for (const { what, size, contrast } of texts) {
      const isMain = what.startsWith("what");
      assert.ok(size >= (isMain ? 60 : 40), `${what}: ${size} px`);
      const least = isMain && !what.includes("none") ? 10 : 7;
      assert.ok(contrast >= least, `${what}, ${colorScheme}: ${contrast.toFixed(1)}`);
    }
    const over = await tab.run("document.documentElement.scrollHeight - innerHeight");
    assert.ok(Number(over) <= 0, `${over} px don't fit on the screen`);
    const wide = await tab.run(
      `[...document.querySelectorAll("#main li")].filter((row) => row.offsetWidth > row.closest("section").offsetWidth).length`,
    );
    assert.equal(wide, 0, `${wide} rows are wider than their column`);
  }
  await tab.page.emulateMedia({ colorScheme: "light" });
}

const heap = async (debug: CDPSession): Promise<number> => {
  await debug.send("HeapProfiler.collectGarbage");
  return (await debug.send("Runtime.getHeapUsage")).usedSize;
};

/** What many changes leave behind: nothing. */
async function keepsNothing(tab: Tab, change: () => Promise<void>): Promise<void> {
  const debug = await tab.page.context().newCDPSession(tab.page);
  const draws = async (n: number) =>
    tab.run(`new Promise((done) => { let left = ${n}; const of = new MutationObserver(() => { left -= 1; if (left === 0) { of.disconnect(); done(0); } });
      of.observe(document.getElementById("main"), { childList: true }); })`);
  // It rests no longer than it must between them.
  await tab.run("{ const own = setTimeout; window.setTimeout = (call) => own(call, 0); } 0");
  let n = 0;
  const files = String(await tab.run("document.documentElement.dataset.files"));
  await tab.page.route("**/wall/*", async (route) => {
    if (route.request().headers()["x-wall"] === undefined) return route.continue();
    n += 1;
    await route.fulfill({
      headers: {
        "content-type": "text/html",
        etag: `"${n}"`,
        "x-next": `${n}`,
        "x-files": files,
      },
      body: `<section><h1 id="open">${n} open</h1><p class="what">${"x".repeat(10_000)}</p></section>`,
    });
  });
  // What is asked already is the box's own.
  await change();
  await draws(10);
  const before = await heap(debug);
  await draws(50);
  const grown = (await heap(debug)) - before;
  assert.ok(grown < 100_000, `${grown} bytes more after fifty changes`);
  await tab.page.unroute("**/wall/*");
}

export async function wallHolds(browser: Browser): Promise<void> {
  await onStage(browser, async (stage) => {
    const { box, visit, run, calm } = stage;
    const { fire, id, link } = await begun(stage);
    run();
    const tab = await visit(link, { options: SCREEN });
    const { page } = tab;
    // It is nobody's: no session stands behind it.
    await page.context().clearCookies();
    await page.reload();
    await seen(tab, `/Nothing is open/.test(document.body.textContent)`);
    for (let n = 0; n < 12; n++) await fire(n);
    const ms = await seen(tab, `/^12 open/.test(document.getElementById("open").textContent)`);
    assert.equal(await page.locator("#main ol > li").count(), 5);
    assert.match((await page.textContent("#main")) ?? "", /and 7 more/);
    assert.match((await page.textContent("#main")) ?? "", /Nobody/);
    await calm(tab, "the wall");
    await readsFromAfar(tab);
    console.log(`  ok read from afar; changes were there after ${Math.round(ms)} ms`);

    // The box can't be reached, and then it can: meanwhile what is shown is said to be old.
    await page.context().setOffline(true);
    await fire(12);
    await seen(
      tab,
      `/can’t be reached · shown as of/.test(document.getElementById("down").textContent)`,
      30_000,
    );
    // What was asked before may have been answered still.
    const stood = await page.textContent("#open");
    assert.match(stood ?? "", /^1[23] open/);
    await fire(13);
    assert.equal(await page.textContent("#open"), stood);
    await page.context().setOffline(false);
    await seen(tab, `/^14 open/.test(document.getElementById("open").textContent)`, 20_000);
    assert.equal(await page.textContent("#down"), "");
    console.log("  ok says when the box can't be reached");

    // Another version of the box has other files.
    await tab.run("window.isOld = true; 0");
    const others = { "content-type": "text/html", "x-files": "/assets/new/console.js" };
    await page.route("**/wall/*", async (route) => {
      await route.fulfill({ headers: others, body: "" });
      await page.unroute("**/wall/*");
    });
    await fire(14);
    await seen(tab, `window.isOld !== true && document.getElementById("open")`, 30_000);
    console.log("  ok loads itself anew with another version");

    assert.equal((await box.api("DELETE", `/v1/walls/${id}`)).status, 200);
    await seen(
      tab,
      `/shows nothing any more/.test(document.getElementById("down").textContent)`,
      30_000,
    );
    assert.equal(await page.locator("#main li").count(), 0);
    assert.deepEqual(
      withoutStatus(tab.noise).filter(
        (line) => !line.startsWith(`request: ${box.url}/`) && !/ERR_/.test(line),
      ),
      [],
    );
    console.log("  ok says when its link is revoked");

    const { body } = await box.api("POST", "/v1/walls", { name: "Another" });
    const other = await visit(String(body.wall_url), { options: SCREEN });
    await keepsNothing(other, () => fire(15));
    console.log("  ok keeps nothing of what was");
  });
}
