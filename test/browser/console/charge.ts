/** What the pages for those in charge promise, as it is tried in a browser. */
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import type { Browser } from "playwright-core";
import { onStage, type Stage, seen } from "./stage.ts";

/** AC-21.3: from the line at the top of any page to the finding, and it goes when the doctor has looked again. */
async function fromBarToFinding({ box, visit, calm }: Stage): Promise<void> {
  chmodSync(box.data, 0o755);
  const tab = await visit("/system");
  const { page } = tab;
  await page.keyboard.press("d");
  // A process of its own, which starts from sources here.
  await seen(tab, "document.querySelector('#doctor-directory') !== null", 240_000);
  await page.goto(`${box.url}/alerts`);
  assert.match(String(await page.textContent(".nav")), /something is to be mended/);
  await page.goto(`${box.url}/system`);
  await page.click("#bar a");
  await page.waitForURL(`${box.url}/system#doctor-directory`);
  const top = await tab.run(
    "document.querySelector('#doctor-directory').getBoundingClientRect().top",
  );
  assert.ok(Number(top) >= 0 && Number(top) < 740, `the finding isn't in view: ${top}`);
  await calm(tab, "system");
  chmodSync(box.data, 0o700);
  await page.click("#doctor button:text-is('Look again')");
  // Nothing is loaded again: the line at the top follows what was found.
  await seen(tab, "document.querySelector('#bar a[href$=doctor-directory]') === null", 240_000);
  await tab.close();
}

/** AC-20.5: whoever is named is replaced everywhere, with what changes shown while one chooses; then removed. */
async function replacedAndRemoved({ box, visit, calm }: Stage): Promise<void> {
  const ann = box.person("member", "ann@example.org");
  const bob = box.person("member", "bob@example.org");
  await box.project("shop");
  const escalations = [{ accounts: [ann.accountId], schedules: [], after_minutes: 5 }];
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations });
  const tab = await visit(`/people/${ann.accountId}`);
  const { page } = tab;
  await page.click("#remove summary");
  assert.ok(await page.isDisabled("#remove button"), "the reason stands before the click");
  await page.selectOption("#replace-form select", bob.accountId);
  await seen(tab, "document.querySelector('#would').textContent.includes('bob@example.org')");
  await calm(tab, "a person who is named");
  await page.click("#replace-form button:text-is('Replace everywhere')");
  await seen(tab, "document.querySelector('#said').textContent.includes('in 1 place')");
  await page.click("#said button:text-is('Undo')");
  await seen(tab, "document.querySelector('#named').textContent.includes('rule errors')");
  await page.selectOption("#replace-form select", bob.accountId);
  await page.click("#replace-form button:text-is('Replace everywhere')");
  await seen(tab, "document.querySelector('#named').textContent.includes('No ladder')");
  await page.reload();
  await page.click("#remove summary");
  await Promise.all([page.waitForURL(`${box.url}/people`), page.click("#remove button")]);
  assert.doesNotMatch((await page.textContent("#people")) ?? "", /ann@example/);
  await tab.close();
}

/** AC-20.4: the last owner sees why the role stays; a text is planned and applied. */
async function ownerAndText({ box, visit, calm }: Stage): Promise<void> {
  const tab = await visit(`/people/${box.owner.accountId}`);
  const { page } = tab;
  assert.match((await page.textContent("#change")) ?? "", /This is the last owner/);
  assert.equal(await page.locator("#change select").count(), 0);
  await page.goto(`${box.url}/p/shop/config`);
  const text = await page.inputValue("#config-text");
  await page.fill("#config-text", text.replace("name: errors", "name: failures"));
  await page.click("#editor button:text-is('Plan')");
  await seen(
    tab,
    "document.querySelector('#plan').textContent.includes('rename rule errors to failures')",
  );
  await calm(tab, "a plan");
  await page.click("#plan button:text-is('Apply')");
  await seen(tab, "document.querySelector('#said').textContent.includes('Applied: 1 change')");
  assert.match(await page.inputValue("#config-text"), /name: failures/);
  await tab.close();
}

export async function chargeHolds(browser: Browser): Promise<void> {
  await onStage(browser, async (stage) => {
    const stop = stage.run();
    await fromBarToFinding(stage);
    await replacedAndRemoved(stage);
    await ownerAndText(stage);
    await stop();
  });
}
