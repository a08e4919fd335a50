/**
 * The console's screens in a real browser, on real boxes.
 *
 *     node test/browser/console.ts [PART OF A STORY'S NAME]
 */
import { chromium } from "playwright-core";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { consoleStories } from "./console/stories.ts";

const [part = ""] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  for (const [name, story] of Object.entries(consoleStories)) {
    if (!name.includes(part)) continue;
    await story(browser);
    console.log(`ok ${name}`);
  }
} finally {
  await browser.close();
}
