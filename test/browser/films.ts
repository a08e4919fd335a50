/**
 * Short films for the documents, of the box that `settleTeam` makes: an animated WebP of what a person does.
 *
 *     node test/browser/films.ts [DIR] [NAME …]     films go to dist/screens, or to DIR
 *
 * `cp dist/screens/*-film.webp docs/screens/` takes them over.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type TestBox, testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";
import { startReceiver } from "../support/receiver.ts";
import { settleTeam } from "../support/team.ts";
import { settle } from "../support/until.ts";
import { CHROMIUM, FLAGS } from "./chromium.ts";
import { type Frame, movingPicture } from "./moving-picture.ts";
import type { filmsOfDocs } from "./screens-of.ts";
import { smallPicture } from "./small-picture.ts";

const MOST_BYTES = 300_000;

interface Film {
  seen: BrowserContextOptions & { viewport: { width: number; height: number } };
  /** Pixels that its pictures are scaled to. */
  width: number;
  play(of: { box: TestBox; page: Page; shot: Shot }): Promise<void>;
}

type Shot = (ms: number, finger?: string) => Promise<void>;

const READ = 2200;
const PRESSED = 700;

/** A page arrives on the phone of whoever is on call, and they take it. */
const acknowledged: Film = {
  seen: { viewport: { width: 390, height: 760 }, colorScheme: "dark", isMobile: true },
  width: 330,
  async play({ box, page, shot }) {
    const { alerts } = (await box.api("GET", "/v1/alerts?state=open")).body;
    for (const { id } of alerts) await box.api("POST", `/v1/alerts/${id}/resolve`, {});
    const source = await box.api("POST", "/v1/projects/payments/sources", { name: "gateway" });
    await settle(box);
    await page.goto(`${box.url}/alerts`);
    await shot(READ);
    const event = {
      message: "no payment goes through at adyen (tx 99871)",
      level: 500,
      keys: { provider: "adyen" },
    };
    assert.equal((await box.ingest(source.body.token, event)).status, 202);
    await settle(box);
    // The page is told by the box's clock, which stands else.
    await box.clock.turn(3_000);
    const take = page.getByRole("button", { name: /^Ack/ }).first();
    await take.waitFor();
    await shot(READ);
    await page.locator(".row-title a, .row a").first().click();
    await page.locator("#do-ack button").waitFor();
    await shot(READ);
    await shot(PRESSED, "#do-ack button");
    await page.locator("#do-ack button").click();
    await page.getByText("You have it").first().waitFor();
    await shot(READ + 800);
  },
};

/** From *On call*: who takes turns, and the rota stands. */
const rota: Film = {
  seen: { viewport: { width: 1000, height: 680 }, colorScheme: "light" },
  width: 760,
  async play({ box, page, shot }) {
    await page.goto(`${box.url}/oncall`);
    await shot(READ);
    const form = page.locator('form[action$="/oncall/weekly"]');
    if (!(await form.isVisible())) await page.getByText("New schedule").first().click();
    await form.scrollIntoViewIfNeeded();
    await form.locator("[name=project]").selectOption("checkout");
    await shot(READ);
    await form.getByLabel("Sam Okafor").uncheck();
    await shot(PRESSED + 500);
    await form.getByRole("button").scrollIntoViewIfNeeded();
    await shot(PRESSED, 'form[action$="/oncall/weekly"] .form-foot button');
    await form.getByRole("button", { name: "Make a weekly schedule" }).click();
    await page.waitForURL(/oncall\/checkout/);
    await shot(READ + 800);
  },
};

const FILMS: Readonly<Record<(typeof filmsOfDocs)[number], Film>> = {
  "acknowledge-film": acknowledged,
  "rota-film": rota,
};

/** A fingertip on what is pressed. */
const fingerOn = (selector: string) => `(() => {
  const { left, top, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
  const tip = document.createElement("div");
  tip.id = "fingertip";
  Object.assign(tip.style, { position: "fixed", zIndex: 99, width: "44px", height: "44px", borderRadius: "50%",
    left: left + width / 2 - 22 + "px", top: top + height / 2 - 22 + "px", background: "#8888", border: "2px solid #fff" });
  document.body.append(tip);
})()`;

const [folder = "dist/screens", ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  for (const [name, film] of Object.entries(FILMS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const receiver = await startReceiver();
    const box = await testBox();
    await settleTeam(box, receiver);
    const context = await browser.newContext({ timezoneId: "Europe/Berlin", ...film.seen });
    await context.addCookies([
      { name: "box", value: signedIn(box).cookie.replace(/^box=/, ""), url: box.url },
      { name: "zone", value: "Europe%2FBerlin", url: box.url },
      { name: "panes", value: "1", url: box.url },
    ]);
    const page = await context.newPage();
    const frames: Frame[] = [];
    const { width: wide, height: high } = film.seen.viewport;
    const size = { width: film.width, height: Math.round((high * film.width) / wide) };
    await film.play({
      box,
      page,
      async shot(ms, finger) {
        if (finger !== undefined) await page.evaluate(fingerOn(finger));
        const png = await page.screenshot();
        frames.push({ webp: await smallPicture(browser, png, size), ...size, ms });
        if (finger !== undefined) await page.evaluate("fingertip.remove()");
      },
    });
    const made = movingPicture(frames);
    assert.ok(made.length < MOST_BYTES, `${name} has ${made.length} bytes`);
    writeFileSync(join(folder, `${name}.webp`), made);
    console.log(`${name}: ${frames.length} frames, ${made.length} bytes`);
    await context.close();
    await box.stop();
    await receiver.close();
  }
} finally {
  await browser.close();
}
