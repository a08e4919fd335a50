/**
 * The console's screens in a real browser, on real boxes, and its script on pages made by hand.
 *
 *     node test/browser/console.ts [PART OF A STORY'S NAME] [PART OF A STEP'S NAME, of scriptHolds]
 */
import { type Browser, chromium } from "playwright-core";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { scriptHolds } from "./console/script.ts";
import { consoleStories } from "./console/stories.ts";

const [part = "", step = ""] = process.argv.slice(2);
const stories = {
  ...consoleStories,
  scriptHolds: (browser: Browser) => scriptHolds(browser, step),
};
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  for (const [name, story] of Object.entries(stories)) {
    if (!name.includes(part)) continue;
    await story(browser);
    console.log(`ok ${name}`);
  }
} finally {
  await browser.close();
}
