/** A desk that has room: the list, and beside it the alert that was chosen. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { settle } from "../../support/until.ts";
import { followed, onStage, seen } from "./stage.ts";

const WIDE = { options: { viewport: { width: 1440, height: 900 } } };
const TITLE = `document.querySelector("#head h1").textContent`;
const CHOSEN = `document.querySelector(".row:has([aria-current])")?.id`;
const isSeen = (what: string) => `document.querySelector("${what}")?.checkVisibility() === true`;

export const panesHold = (browser: Browser) =>
  onStage(browser, async ({ box, run, visit, calm }) => {
    const token = await box.project("shop");
    const step = {
      after_minutes: 0,
      accounts: [box.owner.accountId],
      schedules: [],
      repeat_minutes: 0,
    };
    const rule = { name: "errors", identifier_keys: ["n"], escalations: [step] };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
    const fire = async (n: string, level = 400) => {
      await box.ingest(token, { message: `pump ${n} failed`, level, keys: { n } });
      await settle(box);
    };
    for (const n of ["a", "b", "c"]) await fire(n);
    run();
    const tab = await visit("/me", WIDE);
    const { page } = tab;
    // The first page told how wide the window is.
    await page.goto(`${box.url}/alerts`);
    assert.equal(await tab.run(TITLE), "pump c failed");
    assert.equal(await tab.run(CHOSEN), "row-3");
    assert.equal(await tab.run(`document.querySelectorAll("h1").length`), 1);
    assert.equal(
      await tab.run(`document.documentElement.scrollHeight > innerHeight`),
      false,
      "each scrolls on its own",
    );
    await followed(box);
    await calm(tab, "the list and its first alert");

    // Something worse comes: what is read stays, also where it is acknowledged.
    await fire("d", 550);
    await seen(tab, `document.querySelector("#row-4")`);
    assert.equal(await tab.run(TITLE), "pump c failed");
    await page.click('#actions button:text-is("Acknowledge")');
    await seen(tab, `/You have it/.test(document.querySelector("#actions").textContent)`);
    assert.equal(await tab.run(TITLE), "pump c failed");
    assert.equal(await tab.run(`document.querySelector("#row-3").hasAttribute("data-gone")`), true);
    await page.reload();
    assert.equal(await tab.run(TITLE), "pump c failed");

    // By the pointer, by keys, and in another list, which stays beside it.
    await page.click("#row-1 a.message");
    await page.waitForURL(`${box.url}/a/1`);
    assert.deepEqual([await tab.run(TITLE), await tab.run(CHOSEN)], ["pump a failed", "row-1"]);
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${box.url}/a/2`);
    await page.click('.pane-list .segments a:has-text("Taken")');
    await seen(tab, `${CHOSEN} === "row-3"`);
    await fire("e");
    await page.click("#row-3 a.message");
    await page.waitForURL(/list=state%3Dacknowledged/);
    assert.deepEqual([await tab.run(TITLE), await tab.run(CHOSEN)], ["pump c failed", "row-3"]);

    // A form of the list answers on the page of the alert.
    await page.goto(`${box.url}/a/1`);
    await page.click("#row-2 .row-actions button");
    await seen(tab, `/Acknowledged #2/.test(document.querySelector("#said").textContent)`);
    assert.deepEqual(
      [await tab.run(TITLE), new URL(page.url()).pathname],
      ["pump a failed", "/a/1"],
    );
    await seen(tab, `!document.querySelector("[data-changed]")`);
    await calm(tab, "an alert beside its list");

    // Without the room there is one of the two, at once and on the next page.
    await page.setViewportSize({ width: 1100, height: 900 });
    await seen(tab, `!(${isSeen(".pane-list")})`);
    assert.equal(await tab.run(isSeen("#head h1")), true);
    await page.reload();
    await page.goto(`${box.url}/alerts`);
    assert.equal(await tab.run(`document.querySelector("#head")`), null);
  });
