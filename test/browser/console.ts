/**
 * The console's screens in a real browser, on real boxes, and its script on pages made by hand.
 *
 *     node test/browser/console.ts [--whole] [PART OF A STORY'S NAME] [PART OF A STEP'S NAME, of scriptHolds]
 *
 * `--whole` looks at every width in every way of seeing it. Beside each story stands how much processor time it took, in this process and in those that it began: browsers and boxes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { startChromium } from "./chromium.ts";
import { scriptHolds } from "./console/script.ts";
import { consoleStories, DESKTOP_STORIES } from "./console/stories.ts";
import { typed } from "./whole.ts";

/** Seconds of processor time of this process and of all below it, those that are over among them. */
function cpuSeconds(): number {
  const all = new Map<number, { parent: number; ticks: number }>();
  for (const name of existsSync("/proc") ? readdirSync("/proc") : [])
    if (/^\d+$/.test(name))
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [, parent = 0, ...rest] = stat
          .slice(stat.lastIndexOf(")") + 2)
          .split(" ")
          .map(Number);
        const ticks = rest.slice(9, 13).reduce((sum, n) => sum + n, 0);
        all.set(Number(name), { parent, ticks });
      } catch {
        // It ended meanwhile.
      }
  const isOurs = (pid: number): boolean =>
    pid === process.pid || (all.has(pid) && isOurs(all.get(pid)?.parent ?? 0));
  // A hundred a second on every Linux.
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (isOurs(pid) ? ticks : 0), 0) / 100;
}

const [part = "", step = ""] = typed;
const stories = {
  ...consoleStories,
  scriptHolds: (browser: Browser) => scriptHolds(browser, step),
};
const told = Object.entries(stories).filter(([name]) => name.includes(part));
if (told.length === 0) throw new Error(`no story is called ${part}`);
for (const [name, story] of told) {
  const before = cpuSeconds();
  const browser = await startChromium({ isDesktop: DESKTOP_STORIES.has(name) });
  try {
    await story(browser);
    console.log(`ok ${name}, ${Math.round(cpuSeconds() - before)} s of CPU`);
  } finally {
    await browser.close();
  }
}
