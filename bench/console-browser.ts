import { readFileSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { Pool } from "undici";
import { CHROMIUM, FLAGS } from "../test/browser/chromium.ts";
import { ask, context, type Furnished, furnished, OPEN, sessionOf } from "./console-stage.ts";
import { events } from "./events.ts";
import { fromRounds, type Row, type Scenario, withDirectory } from "./harness.ts";
import { closedLoop } from "./load.ts";

const STREAMS = 50;

const PAINTED = `new Promise((done) => { const look = () => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  if (paint) done(paint.startTime); else setTimeout(look, 5);
}; look(); })`;

/** First paints of the list, which has its rows, beside those of an empty page, by turns. */
async function paints(browser: Browser, seen: Furnished, rounds: number): Promise<Row[]> {
  const made = await context(browser, seen, seen.cookie);
  const page = await made.newPage();
  const debug = await made.newCDPSession(page);
  const painted = async (path: string) => {
    await page.goto(seen.url + path);
    return ask(debug, PAINTED);
  };
  const rows: Row[] = [];
  for (const [how, rate, must] of [
    ["", 1, 120],
    [", slowed 4 x", 4, 350],
  ] as const) {
    await debug.send("Emulation.setCPUThrottlingRate", { rate });
    const [empty, list]: [number[], number[]] = [[], []];
    // The first round fills the browser's cache.
    for (let round = 0; round <= rounds; round++) {
      const [nothing, all] = [await painted("/empty-page"), await painted("/alerts")];
      if (round === 0) continue;
      empty.push(nothing);
      list.push(all);
    }
    const later = list.map((all, i) => all - (empty[i] ?? Number.NaN));
    rows.push(
      fromRounds(`empty page painted${how}`, "ms", empty),
      fromRounds(`${OPEN} rows painted${how}`, "ms", list),
      fromRounds(`${OPEN} rows after the empty page${how}`, "ms", later, { must, lower: true }),
    );
  }
  await made.close();
  return rows;
}

/** Ingest beside fifty streams, and without, by turns; and what a stream holds in memory. */
async function streams(seen: Furnished, quick: boolean): Promise<Row[]> {
  const rate = () =>
    withDirectory(async (directory) => {
      const headers = { Authorization: `Bearer ${seen.token}` };
      const load = { url: `${seen.url}/v1/ingest`, headers, bodies: events(), directory };
      return (await closedLoop({ ...load, connections: 64, seconds: quick ? 2 : 4 })).rate;
    });
  await rate();
  const ratios: number[] = [];
  const each: number[] = [];
  for (let round = 0; round < (quick ? 3 : 7); round++) {
    const before = await rate();
    const [pool, held] = [new Pool(seen.url, { connections: STREAMS }), seen.server.memory()];
    for (let i = 0; i < STREAMS; i++) {
      // One browser holds eight.
      const signed = await sessionOf(seen);
      const headers = { cookie: signed, accept: "text/event-stream" };
      const { body, statusCode } = await pool.request({
        path: "/live?watch=alerts,system",
        method: "GET",
        headers,
      });
      if (statusCode !== 200) throw new Error(`a stream was answered by ${statusCode}`);
      body.on("error", () => {}).on("data", () => {});
    }
    each.push((seen.server.memory().anonymous - held.anonymous) / STREAMS / 1024);
    const beside = await rate();
    await pool.destroy();
    ratios.push(beside / ((before + (await rate())) / 2));
  }
  return [
    fromRounds(`ingest beside ${STREAMS} streams / without`, "ratio", ratios, { must: 0.98 }),
    fromRounds("memory of a stream", "kB", each, { must: 64, lower: true }),
  ];
}

/** What is sent: the script, the style and fifty rows, packed. */
async function sizes({ url, cookie }: Furnished): Promise<Row[]> {
  const packed = (name: string) => readFileSync(`dist/console/${name}.gz`).length / 1000;
  const pool = new Pool(url);
  const headers = { cookie, accept: "text/html", "accept-encoding": "gzip" };
  const { body } = await pool.request({ path: "/alerts", method: "GET", headers });
  const rows = (await body.arrayBuffer()).byteLength / 1000;
  await pool.close();
  const kb = (what: string, value: number, must: number): Row => ({
    what,
    value,
    must,
    unit: "kB gz",
    lower: true,
  });
  return [
    kb("script of the list's page", packed("console.js"), 15),
    kb("style", packed("console.css"), 12),
    kb(`page of ${OPEN} rows`, rows, 8),
  ];
}

export const consoleBrowser: Scenario = {
  name: "console-browser",
  about: "the console in a browser beside an empty page, and what fifty streams cost",
  async run(quick) {
    const seen = await furnished();
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    try {
      const rows = await sizes(seen);
      rows.push(...(await paints(browser, seen, quick ? 5 : 15)));
      return [...rows, ...(await streams(seen, quick))];
    } finally {
      await browser.close();
      await seen.server.stop();
    }
  },
};
