/** Screens of a real box in a real browser: its clock is turned by hand, here as fast as the machine's goes. */
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { signedIn } from "../../support/console.ts";
import { until } from "../../support/until.ts";
import { BROWSER_PATIENCE_MS, findings, open, type Tab } from "../tab.ts";

/**
 * Notes what moved without somebody's doing, from the first paint on. A browser takes half a second for what follows a press or a
 * letter; what the box's answer to it brings is somebody's doing however long that took.
 */
const SHIFTS = `window.shifts = [];
{ let answeredAt = -1e9;
const ask = window.fetch;
window.fetch = async (...asked) => {
  const answer = await ask(...asked);
  // A form, or what it would do.
  if (asked[1]?.method === "POST") answeredAt = performance.now();
  return answer;
};
window.shiftObserver = new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources, startTime } of list.getEntries())
    if (!hadRecentInput && !(startTime >= answeredAt && startTime < answeredAt + 500)) window.shifts.push(value.toFixed(5) + " " + sources.map(({ node, previousRect: was, currentRect: is }) => [was, is].map(({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ")).join(" > ") + " " + (node?.outerHTML ?? node?.parentElement?.outerHTML ?? "").slice(0, 90)).join(" | "));
});
shiftObserver.observe({ type: "layout-shift", buffered: true }); }`;

/** Sets twice as large a text, as somebody does who sees badly: what moves by that is no shift of the page's own. */
export async function enlarge(tab: Tab): Promise<void> {
  await tab.run("document.documentElement.style.fontSize = '200%'; 0");
  // The second frame begins when the first, which has moved everything, is painted.
  await tab.run(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))
    .then(() => { shiftObserver.takeRecords(); window.shifts = []; })`);
}

export interface Stage {
  box: TestBox;
  /** Runs the box's clock as fast as the machine's until it is called again. */
  run(): () => Promise<void>;
  /** A tab of somebody who has signed in. */
  visit(path: string, how?: Visit): Promise<Tab>;
  /** A page that does nothing that it shouldn't: no fault of accessibility (of these rules alone, where any are named), nothing said, nothing moved. */
  calm(tab: Tab, what: string, rules?: readonly string[]): Promise<void>;
}

interface Visit {
  person?: Person;
  options?: BrowserContextOptions;
  /** What the browser's clock is ahead, milliseconds. */
  ahead?: number;
}

/** A box for one story; all of it goes when the story is over, but a box that was `given`. */
export async function onStage(
  browser: Browser,
  story: (stage: Stage) => Promise<void>,
  clock = handClock(),
  given: TestBox | null = null,
): Promise<void> {
  const box = given ?? (await testBox({}, clock));
  const tabs: Tab[] = [];
  const ends: (() => Promise<void>)[] = [];
  try {
    await story({
      box,
      run() {
        const stop = running(box);
        ends.push(stop);
        return stop;
      },
      async visit(path, { person = box.owner, options = {}, ahead = 0 } = {}) {
        const tab = await open(browser, options);
        tabs.push(tab);
        tab.page.setDefaultTimeout(BROWSER_PATIENCE_MS);
        const context = tab.page.context();
        await context.addInitScript(SHIFTS);
        if (ahead !== 0)
          await context.addInitScript(
            `{ const now = Date.now; Date.now = () => now() + ${ahead}; }`,
          );
        const [name = "", value = ""] = signedIn(box, person).cookie.split("=");
        await context.addCookies([
          { name, value, url: box.url },
          { name: "zone", value: "UTC", url: box.url },
        ]);
        await tab.page.goto(box.url + path);
        return tab;
      },
      calm: (tab, what, rules = []) => calm(box, tab, { what, rules }),
    });
  } finally {
    for (const end of ends) await end();
    for (const tab of tabs) await tab.close();
    if (given === null) await box.stop();
  }
}

async function calm(
  { url }: TestBox,
  tab: Tab,
  { what, rules }: { what: string; rules: readonly string[] },
): Promise<void> {
  assert.deepEqual([...(await findings(tab, rules)), ...(await unrest(tab, url))], [], what);
}

/** What a page did that it shouldn't: what it said, asked of another origin than `url`'s, moved, and its width. */
export async function unrest(tab: Tab, url: string): Promise<string[]> {
  const found = tab.noise.filter((line) => !line.startsWith(`request: ${url}/`));
  const shifts = (await tab.run("window.shifts ?? []")) as string[];
  const sum = shifts.reduce((all, shift) => all + Number.parseFloat(shift), 0);
  if (sum >= 0.005) found.push(`moved: ${shifts.join("\n")}`);
  const over = Number(await tab.run("document.documentElement.scrollWidth - innerWidth"));
  if (over > 0) found.push(`${over} px too wide`);
  return found;
}

/** Runs the box's clock as fast as the machine's until what it answers is called. */
export function running(box: TestBox): () => Promise<void> {
  let isOn = true;
  let last = performance.now();
  const turned = (async () => {
    while (isOn) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      // The wall clock has whole milliseconds.
      const passed = Math.floor(performance.now() - last);
      await box.clock.turn(passed);
      last += passed;
    }
  })();
  return async () => {
    isOn = false;
    await turned;
  };
}

/** Waits until the expression, or what it promises, is true in the page; how many milliseconds that took. */
export async function seen(
  tab: Tab,
  expression: string,
  ms = BROWSER_PATIENCE_MS,
): Promise<number> {
  const start = performance.now();
  while (!(await tab.run(`Promise.resolve(${expression}).then(Boolean)`))) {
    if (performance.now() - start > ms) throw new Error(`not seen in ${ms} ms: ${expression}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return performance.now() - start;
}

/** So many times something goes between the box and a page's screen before what changed is seen. */
const TRIPS = 4;

/**
 * Runs `work` and fails where it takes longer than `ms`, but for what the machine itself costs: meanwhile the same page asks the box
 * for a file, again and again, and the slowest answer counts as many times as there are ways between a change and the screen.
 * A box or a page that waits for something is found out; a machine that is busy isn't taken for one. How many milliseconds it took.
 */
export async function soon(
  tab: Tab,
  { ms, what }: { ms: number; what: string },
  work: () => Promise<unknown>,
): Promise<number> {
  let isOver = false;
  let slowest = 0;
  const trips = (async () => {
    while (!isOver) {
      const start = performance.now();
      await tab.run(FILE);
      slowest = Math.max(slowest, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  // What keeps the page from asking, as its end, is told by what is waited for.
  trips.catch(() => {});
  const start = performance.now();
  await work().finally(() => {
    isOver = true;
  });
  const took = performance.now() - start;
  await trips;
  const rounded = [took, slowest].map(Math.round);
  assert.ok(
    took - TRIPS * slowest <= ms,
    `${what} after ${rounded[0]} ms; a file takes ${rounded[1]}`,
  );
  return took;
}

const FILE = `fetch(document.querySelector("link[rel=stylesheet]").href, { cache: "no-store" })
  .then((answer) => answer.arrayBuffer()).then(() => 0)`;

/** Waits until so many pages follow the box: what happens from then on they are told. */
export const followed = ({ tenant }: TestBox, pages = 1): Promise<void> =>
  until(() => tenant.changes.listening >= pages, `${pages} pages follow`);
