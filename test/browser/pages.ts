/**
 * The public pages in a real browser: both colour schemes, a phone's width and paper; nothing for an
 * accessibility checker to find, no message on the console, no breach of the policy, no request to
 * anywhere, and not one vector of the corpus that runs.
 *
 *     node test/browser/pages.ts [--whole] [DIR] [PART OF A STORY'S NAME]     pictures go to DIR, else to a temporary directory
 *
 * `CHROMIUM` names the browser where it isn't /usr/bin/chromium. Without one it is skipped, save in
 * CI, where it fails.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { reportFeed } from "../../src/records/reports/feed.ts";
import { XSS_VECTORS } from "../fixtures/xss.ts";
import { entry, report } from "../records/reports/sample.ts";
import { answeringHolds } from "./answering.ts";
import { CHROMIUM, startChromium } from "./chromium.ts";
import { oncallHolds } from "./console/oncall.ts";
import { scriptHolds } from "./console/script.ts";
import { consoleStories, DESKTOP_STORIES } from "./console/stories.ts";
import { pairingHolds } from "./pairing.ts";
import { realBoxHolds } from "./real-box.ts";
import { PAGES, PASSWORD, type Served, serve, VECTOR_PAGES } from "./served.ts";
import { isCalmByDayAndNight, open, withoutStatus } from "./tab.ts";
import { typed } from "./whole.ts";

const SIZES = {
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 },
  desk: { viewport: { width: 1100, height: 900 } },
};
/** Each story waits for its box and its browser more often than it works. */
const AT_ONCE = 3;
/** As many as the suite lets pass that fail beside others and not alone. */
const MOST_UNSTEADY = 3;

async function looksRight(browser: Browser, { origin }: Served, pictures: string): Promise<void> {
  for (const [size, options] of Object.entries(SIZES)) {
    const tab = await open(browser, options);
    for (const path of Object.keys(PAGES)) {
      await tab.page.goto(origin + path);
      await isCalmByDayAndNight(tab, join(pictures, `${path.slice(1)}-${size}`));
      assert.deepEqual(withoutStatus(tab.noise), [], `${path} ${size}`);
    }
    await tab.close();
  }
}

async function fits(browser: Browser, { origin }: Served): Promise<void> {
  const tab = await open(browser, { viewport: { width: 320, height: 600 } });
  for (const path of Object.keys(PAGES)) {
    await tab.page.goto(origin + path);
    const over = await tab.run("document.documentElement.scrollWidth - innerWidth");
    assert.ok(Number(over) <= 0, `${path} is ${over} px too wide at 320 px`);
  }
  await tab.close();
}

async function printsAndReadsPlain(
  browser: Browser,
  { origin }: Served,
  pictures: string,
): Promise<void> {
  const tab = await open(browser, { viewport: { width: 794, height: 1000 }, colorScheme: "dark" });
  await tab.page.goto(`${origin}/ongoing`);
  await tab.page.emulateMedia({ media: "print" });
  assert.equal(
    await tab.run("getComputedStyle(document.body).backgroundColor"),
    "rgb(255, 255, 255)",
  );
  await tab.page.screenshot({ path: join(pictures, "print.png"), fullPage: true });
  await tab.page.emulateMedia({ media: "screen", colorScheme: "light" });
  await tab.run("document.querySelector('style').remove()");
  await tab.page.screenshot({ path: join(pictures, "plain.png"), fullPage: true });
  await tab.close();
}

/** By keyboard alone: wrong password, right password, report; then the reader's way back. */
async function gateOpens(browser: Browser, { origin }: Served): Promise<void> {
  const tab = await open(browser);
  const { page } = tab;
  const submit = async (password: string) => {
    await page.keyboard.type(password);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  };
  await page.goto(`${origin}/gated`);
  await page.keyboard.press("Tab");
  await submit("not it");
  assert.equal(await page.textContent("[role=alert]"), "That password isn't right.");
  // The field has the focus again.
  await submit(PASSWORD);
  assert.equal(page.url(), `${origin}/gated`);
  assert.equal(await page.textContent(".now strong"), "Resolved");
  await page.reload();
  assert.equal(await page.textContent(".now strong"), "Resolved");
  assert.deepEqual(withoutStatus(tab.noise), []);
  await tab.close();
}

async function refreshes(browser: Browser, { origin, hits }: Served): Promise<void> {
  const tab = await open(browser);
  await tab.page.goto(`${origin}/hasty`);
  await tab.page.waitForNavigation({ timeout: 10_000 });
  assert.ok((hits.get("/hasty") ?? 0) >= 2);
  assert.deepEqual(tab.noise, []);
  await tab.close();
}

/** Fires, at every element, the events that a handler left behind would wait for. */
const PROVOKE = `(async () => {
  addEventListener("click", (event) => event.preventDefault(), true);
  const names = new Set();
  for (let at = document.body; at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (/^on/.test(name)) names.add(name.slice(2));
  }
  for (const element of document.querySelectorAll("*")) {
    for (const name of names) element.dispatchEvent(new Event(name));
    element.focus?.();
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  return names.size;
})()`;

async function nothingRuns(browser: Browser, { origin }: Served): Promise<void> {
  const tab = await open(browser);
  await tab.page.goto(`${origin}/bare-unclean`);
  await tab.run(PROVOKE);
  assert.ok(tab.noise.includes("a vector ran"), "the trap doesn't catch");
  tab.noise.length = 0;
  await tab.page.goto(`${origin}/unclean`);
  assert.ok(
    tab.noise.some((line) => /violates/.test(line)),
    "the policy doesn't hold",
  );
  assert.ok(!tab.noise.includes("a vector ran"), "the policy doesn't stop a handler");
  tab.noise.length = 0;
  for (const kind of ["vectors", "bare"]) {
    for (let index = 0; index < VECTOR_PAGES; index += 1) {
      await tab.page.goto(`${origin}/${kind}/${index}`);
      assert.ok(Number(await tab.run(PROVOKE)) > 50);
      assert.equal(tab.page.url(), `${origin}/${kind}/${index}`);
      assert.deepEqual(tab.noise, [], `${kind} ${index}`);
    }
  }
  await tab.close();
}

async function feedsParse(browser: Browser): Promise<void> {
  const tab = await open(browser);
  const feeds = XSS_VECTORS.map((vector) => {
    const entries = [entry({ title: vector, contentHtml: vector })];
    const shown = report({ title: vector, description: vector, entries });
    return reportFeed({ report: shown, pageUrl: "https://box.test/x", gated: false }).body;
  });
  const faults = await tab.run(`${JSON.stringify(feeds)}.filter((feed) =>
    new DOMParser().parseFromString(feed, "application/xml").querySelector("parsererror"))`);
  assert.deepEqual(faults, []);
  await tab.close();
}

type Story = readonly [name: string, run: (browser: Browser) => Promise<unknown>];

/** In a browser of its own. */
async function tell([name, run]: Story, isDesktop = DESKTOP_STORIES.has(name)): Promise<void> {
  const from = performance.now();
  const browser = await startChromium({ isDesktop });
  try {
    await run(browser);
    console.log(`ok ${name}, ${Math.round((performance.now() - from) / 1000)} s`);
  } finally {
    await browser.close();
  }
}

/** Takes one story after the other until there are none left; those that failed. */
async function work(left: Story[]): Promise<Story[]> {
  const failed: Story[] = [];
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const story = next;
    await tell(story).catch((error: unknown) => {
      console.log(`FAILED ${story[0]}:`, error);
      failed.push(story);
    });
  }
  return failed;
}

/** Stories that failed are told once more, alone and in a desktop's browser, as the suite does it: what passes then is named. Many are no accident. */
async function again(failed: readonly Story[]): Promise<void> {
  const names = failed.map(([name]) => name).join(", ");
  assert.ok(failed.length <= MOST_UNSTEADY, `failed: ${names}`);
  for (const story of failed) await tell(story, true);
  if (failed.length > 0) console.log(`UNSTEADY, failed above and passed alone: ${names}`);
}

async function main(pictures: string, part = ""): Promise<void> {
  if (!existsSync(CHROMIUM)) {
    assert.equal(process.env["CI"], undefined, `no chromium at ${CHROMIUM}`);
    console.log("skipped: no chromium");
    return;
  }
  mkdirSync(pictures, { recursive: true });
  const served = await serve();
  const pages = { looksRight, fits, printsAndReadsPlain, gateOpens, refreshes, nothingRuns };
  const all: Story[] = [
    ["scriptHolds", (browser) => scriptHolds(browser)],
    ...Object.entries(consoleStories),
    ["oncallHolds", (browser) => oncallHolds(browser, pictures)],
    ["realBoxHolds", realBoxHolds],
    ["pairingHolds", (browser) => pairingHolds(browser, pictures)],
    ["answeringHolds", (browser) => answeringHolds(browser, pictures)],
    ...Object.entries(pages).map(
      ([name, step]): Story => [name, (browser) => step(browser, served, pictures)],
    ),
    ["feedsParse", feedsParse],
  ];
  const left = all.filter(([name]) => name.includes(part));
  assert.ok(left.length > 0, `no story is called ${part}`);
  try {
    const lanes = Array.from({ length: AT_ONCE }, () => work(left));
    await again((await Promise.all(lanes)).flat());
    console.log(`${XSS_VECTORS.length} vectors, pictures in ${pictures}`);
  } finally {
    served.close();
  }
}

// What a story that failed still had under way when its box was stopped mustn't end the others: they tell of themselves.
process.on("unhandledRejection", (error) => console.log("left behind by a story:", error));
const [pictures = mkdtempSync(join(tmpdir(), "box-pages-")), part] = typed;
await main(pictures, part);
// What a story that failed has left behind isn't waited for.
process.exit();
