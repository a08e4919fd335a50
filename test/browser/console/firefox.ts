/** The main screens in Firefox as well: what Chromium shows and does there is no proof for it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { signedIn } from "../../support/console.ts";
import { furnish, type House } from "../../support/house.ts";
import { startReceiver } from "../../support/receiver.ts";
import { FIREFOX, type FirefoxTab, openFirefox } from "../firefox.ts";
import { screensOf } from "../screens-of.ts";
import { running } from "./stage.ts";

/** What people look at most. */
const MAIN = [
  ...["alerts", "alert", "oncall", "oncall-schedule", "rule"],
  ...["ladder", "silences-new", "project-connect", "people", "system"],
];
const SIZES = { phone: [390, 844], desk: [1280, 800] } as const;

/** Firefox fetches the icon after all else: of a page that was left meanwhile it says this. */
const LEFT = /icon\.svg.*A ServiceWorker intercepted the request/;

/** What isn't right of the page that is shown. */
async function faultsOf(tab: FirefoxTab): Promise<string[]> {
  const found = tab.noise.filter((line) => !LEFT.test(line));
  tab.noise.length = 0;
  const over = Number(await tab.run("document.documentElement.scrollWidth - innerWidth"));
  if (over > 0) found.push(`${over} px too wide`);
  const ground = "getComputedStyle(document.body).backgroundColor";
  if ((await tab.run(ground)) !== "rgb(250, 249, 247)") found.push("the paper has no colour");
  return found;
}

async function everyMainScreen(tab: FirefoxTab, { box, ...house }: House): Promise<void> {
  const screens = screensOf({ box, ...house });
  const faults: string[] = [];
  for (const [size, [width, height]] of Object.entries(SIZES)) {
    await tab.size(width, height);
    for (const name of MAIN) {
      const status = await tab.goto(`${box.url}${screens[name]}`);
      if (status !== 200) faults.push(`${name}, ${size}: ${status}`);
      faults.push(...(await faultsOf(tab)).map((fault) => `${name}, ${size}: ${fault}`));
    }
  }
  assert.deepEqual(faults, []);
}

const SEEN_MS = 30_000;

async function seenIn(tab: FirefoxTab, expression: string): Promise<void> {
  const start = performance.now();
  while (!(await tab.run(`Boolean(${expression})`))) {
    assert.ok(performance.now() - start < SEEN_MS, `not seen: ${expression}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A finger acknowledges, the page follows the box, and the way back is there. */
async function acknowledged(tab: FirefoxTab, { box, alerts }: House): Promise<void> {
  const state = async () => (await box.api("GET", `/v1/alerts/${alerts.error}`)).body.state;
  await tab.size(390, 844);
  await tab.goto(`${box.url}/a/${alerts.error}`);
  await tab.click("#do-ack button");
  await seenIn(tab, `document.querySelector(".taken")?.textContent === "You have it"`);
  assert.equal(await state(), "acknowledged");
  await seenIn(
    tab,
    `getComputedStyle(document.querySelector("#do-unack")).visibility === "visible"`,
  );
  await tab.click("#do-unack button");
  await seenIn(tab, `document.querySelector("#do-ack") !== null`);
  assert.equal(await state(), "open");
  await box.api("POST", `/v1/alerts/${alerts.error}/resolve`, {});
  await seenIn(tab, `/Resolved/.test(document.querySelector(".hero").textContent)`);
}

export async function firefoxHolds(_chromium: Browser): Promise<void> {
  if (!existsSync(FIREFOX)) {
    assert.equal(process.env["CI"], undefined, `no Firefox at ${FIREFOX}`);
    return console.log(`   firefoxHolds is skipped: no Firefox at ${FIREFOX}`);
  }
  const receiver = await startReceiver();
  const box = await testBox({}, handClock());
  const { tab, close } = await openFirefox();
  const house = await furnish(box, receiver);
  const stop = running(box);
  try {
    const [name = "", value = ""] = signedIn(box).cookie.split("=");
    const { hostname } = new URL(box.url);
    await tab.cookie(name, value, hostname);
    await tab.cookie("zone", "UTC", hostname);
    await everyMainScreen(tab, house);
    await acknowledged(tab, house);
    assert.deepEqual(tab.noise, []);
  } finally {
    await close();
    await stop();
    await box.stop();
    await receiver.close();
  }
}
