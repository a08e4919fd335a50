/**
 * Pictures of every screen of a box that people have lived in, in each size and each way of seeing it.
 *
 *     node test/browser/screens.ts [DIR] [PARTS OF A NAME …]     pictures go to dist/screens, or to DIR
 *
 * A picture is called SCREEN-SIZE-WAY, as `alerts-tablet-dark`; only those are made whose name has all the parts.
 * Those that the documents show are there as WebP, small, of the box of another team, which is well:
 * `cp dist/screens/*.webp docs/screens/` takes them over. Films are made by `films.ts`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContextOptions, chromium } from "playwright-core";
import { type TestBox, testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";
import { furnish } from "../support/house.ts";
import { startReceiver } from "../support/receiver.ts";
import { settleTeam } from "../support/team.ts";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { picturesOfDocs, screensOf } from "./screens-of.ts";
import { smallPicture } from "./small-picture.ts";

const SIZES = {
  narrow: { width: 360, height: 740 },
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desk: { width: 1440, height: 900 },
};

/** Bars for scrolling lie over a phone's page, and take no room of it. */
const MOBILE: ReadonlySet<string> = new Set(["narrow", "phone"]);

const WAYS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  forced: { colorScheme: "dark", forcedColors: "active" },
  large: { colorScheme: "light" },
};

const [folder = "dist/screens", ...parts] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

type Size = keyof typeof SIZES;

interface Album {
  box: TestBox;
  screens: Readonly<Record<string, string>>;
  /** For documents alone. */
  isSmall: boolean;
}

async function picturesOf({ box, screens, isSmall }: Album, size: Size, way: string) {
  const nameOf = (screen: string) => `${screen}-${size}-${way}`;
  const wanted = Object.entries(screens).filter(
    ([screen]) =>
      parts.every((part) => nameOf(screen).includes(part)) &&
      !(isSmall && picturesOfDocs[nameOf(screen)] === undefined),
  );
  if (wanted.length === 0) return;
  const context = await browser.newContext({
    viewport: SIZES[size],
    timezoneId: "Europe/Berlin",
    isMobile: MOBILE.has(size),
    ...WAYS[way],
  });
  await context.addCookies([
    { name: "box", value: signedIn(box).cookie.replace(/^box=/, ""), url: box.url },
    { name: "zone", value: "Europe%2FBerlin", url: box.url },
    { name: "panes", value: size === "desk" ? "2" : "1", url: box.url },
  ]);
  const page = await context.newPage();
  for (const [screen, at] of wanted) {
    await page.goto(box.url + at);
    if (way === "large") await page.evaluate("document.documentElement.style.fontSize = '200%'");
    const png = await page.screenshot({ fullPage: size === "desk" || size === "tablet" });
    const small = isSmall ? picturesOfDocs[nameOf(screen)] : undefined;
    const [kind, bytes] =
      small === undefined ? ["png", png] : ["webp", await smallPicture(browser, png, small)];
    writeFileSync(join(folder, `${nameOf(screen)}.${kind}`), bytes);
  }
  await context.close();
}

try {
  for (const isSmall of [false, true]) {
    const receiver = await startReceiver();
    const box = await testBox();
    const screens = isSmall
      ? await settleTeam(box, receiver)
      : screensOf(await furnish(box, receiver));
    for (const size of Object.keys(SIZES) as Size[])
      for (const way of Object.keys(WAYS)) await picturesOf({ box, screens, isSmall }, size, way);
    await box.stop();
    await receiver.close();
  }
} finally {
  await browser.close();
}
console.log(`pictures in ${folder}`);
