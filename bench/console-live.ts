import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM, FLAGS } from "../test/browser/chromium.ts";
import { ask, context, type Furnished, furnished, OPEN, sessionOf } from "./console-stage.ts";
import { events } from "./events.ts";
import { median, percentile, type Row, type Scenario, withDirectory } from "./harness.ts";
import { openLoop } from "./load.ts";

const BROWSERS = 10;
const EVENTS_A_SECOND = 500;

/** Notes, by the machine's clock, when a row of the list is first drawn as gone. */
const WATCH = `window.goneAt = {};
new MutationObserver(() => {
  for (const { id } of document.querySelectorAll("[data-gone]")) window.goneAt[id] ??= Date.now();
}).observe(document, { subtree: true, childList: true, attributes: true });`;

/** Acknowledgements by the API while events come in: how long until each of ten browsers shows them. */
async function shown(browser: Browser, seen: Furnished, quick: boolean): Promise<Row[]> {
  const pages: Page[] = [];
  for (let i = 0; i < BROWSERS; i++) {
    const made = await context(browser, seen, await sessionOf(seen));
    await made.addInitScript(WATCH);
    const page = await made.newPage();
    await page.goto(`${seen.url}/alerts`);
    pages.push(page);
  }
  const acks = quick ? 10 : 30;
  const took: number[] = [];
  await withDirectory(async (directory) => {
    const headers = { Authorization: `Bearer ${seen.token}` };
    const load = { url: `${seen.url}/v1/ingest`, headers, bodies: events(), directory };
    // Twice a second at most a page asks: an acknowledgement each 600 ms is one question each.
    const seconds = 2 + Math.ceil(acks * 0.6);
    const loaded = openLoop({ ...load, connections: 32, seconds, rate: EVENTS_A_SECOND });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (let n = 1; n <= acks; n++) {
      await seen.call("POST", `/v1/alerts/${n}/ack`);
      const at = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 600));
      for (const page of pages) {
        // The locator waits for what hasn't come yet.
        await page.locator(`#row-${n}[data-gone]`).waitFor({ state: "attached" });
        const debug = await page.context().newCDPSession(page);
        took.push(Math.max(0, (await ask(debug, `window.goneAt["row-${n}"]`)) - at));
        await debug.detach();
      }
    }
    await loaded;
  });
  for (const page of pages) await page.context().close();
  const spread = { low: median(took), high: Math.max(...took) };
  return [
    {
      what: `committed to visible in ${BROWSERS} browsers, ${EVENTS_A_SECOND} events/s, p95`,
      unit: "ms",
      value: percentile(took, 95),
      ...spread,
      must: 300,
      lower: true,
    },
  ];
}

/** Chromium's own account of each input: from the key to the next frame, in steps of 8 ms. */
const INPUTS = `new Promise((done) => setTimeout(() => done(Math.max(0,
  ...performance.getEntriesByType("event").map(({ duration }) => duration), ...window.inputs)), 300))`;
const NOTE_INPUTS = `window.inputs = [];
new PerformanceObserver((list) => {
  for (const { duration, interactionId } of list.getEntries()) if (interactionId) window.inputs.push(duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });`;

/** The slowest of many keys and clicks, on a processor slowed four times. */
async function response(browser: Browser, seen: Furnished): Promise<Row[]> {
  const rows: Row[] = [];
  const slowest = async (path: string, act: (page: Page) => Promise<void>) => {
    const made = await context(browser, seen, seen.cookie);
    await made.addInitScript(NOTE_INPUTS);
    const page = await made.newPage();
    const debug = await made.newCDPSession(page);
    await debug.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(seen.url + path);
    await act(page);
    const value = await ask(debug, INPUTS);
    rows.push({
      what: `${path}: slowest answer to a key or click, slowed 4 x`,
      unit: "ms",
      value,
      must: 100,
      lower: true,
    });
    await made.close();
  };
  await slowest("/alerts", async ({ keyboard }) => {
    for (let n = 0; n < 15; n++) await keyboard.press(n % 4 === 3 ? "x" : "j");
  });
  await slowest(`/a/${OPEN}`, async (page) => {
    for (const key of ["n", "Escape", "Tab", "Tab", "Tab"]) await page.keyboard.press(key);
  });
  await slowest("/p/bench/lines", async (page) => {
    for (let n = 0; n < 5; n++) await page.keyboard.press("Tab");
  });
  return rows;
}

/** What the box holds more once somebody has looked at a few pages. */
async function loaded(seen: Furnished): Promise<Row> {
  for (const path of ["/alerts", `/a/${OPEN}`, "/oncall", "/people", "/system"])
    await fetch(seen.url + path, { headers: { cookie: seen.cookie, accept: "text/html" } });
  const value = (seen.server.memory().anonymous - seen.unloaded) / 1024 / 1024;
  return { what: "memory of the console, loaded", unit: "MB", value, must: 6, lower: true };
}

export const consoleLive: Scenario = {
  name: "console-live",
  about:
    "how soon browsers show what was committed, and answer to keys; what the console holds in memory",
  async run(quick) {
    const seen = await furnished();
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    try {
      const rows = [await loaded(seen)];
      rows.push(...(await response(browser, seen)));
      return [...rows, ...(await shown(browser, seen, quick))];
    } finally {
      await browser.close();
      await seen.server.stop();
    }
  },
};
