/**
 * Pictures of every screen of a box that people have lived in: on a phone and at a desk, light and dark.
 *
 *     node test/browser/screens.ts [DIR] [PART OF A NAME]     pictures go to dist/screens, or to DIR
 *
 * Those that the documents show are there as WebP, too, small: `cp dist/screens/*.webp docs/screens/` takes them over.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";
import { furnish } from "../support/house.ts";
import { startReceiver } from "../support/receiver.ts";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { picturesOfDocs, screensOf } from "./screens-of.ts";
import { smallPicture } from "./small-picture.ts";

const [folder = "dist/screens", part = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const receiver = await startReceiver();
const box = await testBox();
const house = await furnish(box, receiver);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const session = signedIn(box).cookie.replace(/^box=/, "");
try {
  for (const [size, viewport] of Object.entries({
    phone: { width: 360, height: 740 },
    desk: { width: 1440, height: 900 },
  }))
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({
        viewport,
        colorScheme,
        timezoneId: "Europe/Berlin",
      });
      await context.addCookies([
        { name: "box", value: session, url: box.url },
        { name: "zone", value: "Europe%2FBerlin", url: box.url },
        { name: "panes", value: size === "desk" ? "2" : "1", url: box.url },
      ]);
      const page = await context.newPage();
      for (const [name, at] of Object.entries(screensOf(house))) {
        if (!name.includes(part)) continue;
        await page.goto(box.url + at);
        const picture = `${name}-${size}-${colorScheme}`;
        const path = join(folder, `${picture}.png`);
        const png = await page.screenshot({ path, fullPage: size === "desk" });
        const small = picturesOfDocs[picture];
        if (small !== undefined)
          writeFileSync(join(folder, `${picture}.webp`), await smallPicture(browser, png, small));
      }
      await context.close();
    }
} finally {
  await browser.close();
  await box.stop();
  await receiver.close();
}
console.log(`pictures in ${folder}`);
