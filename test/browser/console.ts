/**
 * The console's screens in a real browser, on real boxes, and its script on pages made by hand.
 *
 *     node test/browser/console.ts [PART OF A STORY'S NAME] [PART OF A STEP'S NAME, of scriptHolds]
 *
 * Beside each story stands how much processor time it took, in this process and in those that it began: browsers and boxes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { scriptHolds } from "./console/script.ts";
import { consoleStories } from "./console/stories.ts";

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

const [part = "", step = ""] = process.argv.slice(2);
const stories = {
  ...consoleStories,
  scriptHolds: (browser: Browser) => scriptHolds(browser, step),
};
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  for (const [name, story] of Object.entries(stories)) {
    if (!name.includes(part)) continue;
    const before = cpuSeconds();
    await story(browser);
    console.log(`ok ${name}, ${Math.round(cpuSeconds() - before)} s of CPU`);
  }
} finally {
  await browser.close();
}
