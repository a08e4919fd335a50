import { readFileSync } from "node:fs";
import { type Browser, type BrowserContext, type CDPSession, chromium } from "playwright-core";
import { Pool } from "undici";
import { CHROMIUM, FLAGS } from "../test/browser/chromium.ts";
import { events } from "./events.ts";
import { fromRounds, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { closedLoop } from "./load.ts";

const STREAMS = 50;
const OPEN = 50;

/** A box of its own process, with fifty open alerts, and a session. */
async function furnished() {
  const server = await start(process.execPath, ["bench/box-server.ts"]);
  const [url = "", token = "", key = ""] = server.line.split(" ");
  const call = async (method: string, path: string, body?: object, bearer = key) => {
    const answer = await fetch(url + path, {
      ...{ method, headers: { authorization: `Bearer ${bearer}` } },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json() as Promise<Record<string, string>>;
  };
  await call("POST", "/v1/projects", { name: "seen" });
  const source = await call("POST", "/v1/projects/seen/sources", { name: "app" });
  for (let n = 0; n < OPEN; n++) {
    // Many of one rule would be one row.
    const conditions = [{ key: "n", op: "eq", value: `${n}` }];
    await call("POST", "/v1/projects/seen/rules", { name: `seen ${n}`, conditions });
    await call(
      "POST",
      "/v1/ingest",
      { message: `payment ${n} failed`, level: 500, keys: { n: `${n}` } },
      source["token"],
    );
  }
  const signed = await fetch(`${url}/signin`, {
    ...{ method: "POST", redirect: "manual", body: new URLSearchParams({ key }) },
    headers: { origin: url, accept: "text/html" },
  });
  const [cookie = ""] = (signed.headers.getSetCookie()[0] ?? "").split(";");
  return { server, url, token, cookie, call };
}
type Furnished = Awaited<ReturnType<typeof furnished>>;

async function context(browser: Browser, { url, cookie }: Furnished): Promise<BrowserContext> {
  const made = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const [name = "", value = ""] = cookie.split("=");
  await made.addCookies([
    { name, value, url },
    { name: "zone", value: "UTC", url },
  ]);
  // A page of nothing on the same origin: what the browser itself takes.
  await made.route("**/empty-page", (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>empty</title><p>." }),
  );
  return made;
}

/** Over the debugger, which the page's policy doesn't bind. */
async function ask(debug: CDPSession, expression: string): Promise<number> {
  const how = { expression, awaitPromise: true, returnByValue: true };
  return Number((await debug.send("Runtime.evaluate", how)).result.value);
}

const PAINTED = `new Promise((done) => { const look = () => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  if (paint) done(paint.startTime); else setTimeout(look, 5);
}; look(); })`;

/** First paints of the list, which has its rows, beside those of an empty page, by turns. */
async function paints(browser: Browser, seen: Furnished, rounds: number): Promise<Row[]> {
  const made = await context(browser, seen);
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
        ...{ path: "/live?watch=alerts,system", method: "GET", headers },
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

let sessions: string[] = [];
let taken = 0;
/** One of seven sessions, in turn. */
async function sessionOf({ url, call }: Furnished): Promise<string> {
  if (sessions.length < 7) {
    const { key = "" } = await call("POST", "/v1/keys", { label: "bench" });
    const signed = await fetch(`${url}/signin`, {
      ...{ method: "POST", redirect: "manual", body: new URLSearchParams({ key }) },
      headers: { origin: url, accept: "text/html" },
    });
    sessions = [...sessions, (signed.headers.getSetCookie()[0] ?? "").split(";")[0] ?? ""];
  }
  return sessions[taken++ % 7] ?? sessions.at(-1) ?? "";
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
    ...{ what, value, must, unit: "kB gz", lower: true },
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
