/** Ladders: what a change would do is said while one types, and a person who was woken reads a ladder on a phone. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import type { TestBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";
import { onStage, type Stage, seen } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

const text = (id: string) =>
  `(document.querySelector("#${id}")?.textContent ?? "").replace(/\\s+/g, " ")`;

async function scene(box: TestBox) {
  const token = await box.project("shop");
  const people = ["mei", "jonas"].map((name) => box.person("member", `${name}@example.org`));
  const [mei, jonas] = people.map(({ accountId }) => accountId);
  const steps = [{ accounts: [mei] }, { accounts: [jonas], after_minutes: 10, repeat_minutes: 5 }];
  const ask = async (path: string, body: object) =>
    assert.equal((await box.api("POST", path, body)).status, 201);
  await ask("/v1/ladders", { name: "first line", steps });
  for (const name of ["errors", "late"])
    await ask("/v1/projects/shop/rules", { name, ladder: "first line" });
  await box.ingest(token, { message: "disk is full", level: 500 });
  await settle(box);
  const ladder = async () => (await box.api("GET", "/v1/ladders/first%20line")).body;
  return { ladder, jonas: people[1] };
}

/** Beside the form, before it is saved: which rules and open alerts follow, whom it pages, who wakes then. */
const previewFollows: Step = async ({ box, visit, calm }) => {
  const { ladder } = await scene(box);
  const tab = await visit("/ladders/first%20line", {
    options: { viewport: { width: 1440, height: 900 } },
  });
  const { page } = tab;
  await calm(tab, "a ladder's page at a desk");
  await page.fill("[name=s1_after]", "0");
  await seen(
    tab,
    `/Not saved yet\\. 2 rules and 2 open alerts would follow it\\. Paged at once: jonas@/.test(${text("found")})`,
  );
  await calm(tab, "a ladder that isn't saved");
  // Another time is asked of what was typed, which stays.
  await page.click("#asked >> text=Next 03:00");
  await seen(tab, `/ 03:00/.test(${text("found")}) && /Not saved yet/.test(${text("found")})`);
  assert.equal(await page.inputValue("[name=s1_after]"), "0");
  assert.equal((await ladder()).steps[1].after_minutes, 10);
  await page.click("button:text-is('Save')");
  await seen(tab, `/Saved\\. 2 rules and 2 open alerts follow it/.test(${text("said")})`);
  assert.equal((await ladder()).steps[1].after_minutes, 0);
};

/** Names, by what, when, and whether anything reaches them; nothing is wider than the phone. */
const readOnAPhone: Step = async ({ box, visit, calm }) => {
  const { jonas } = await scene(box);
  assert.ok(jonas);
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true };
  const tab = await visit("/a/1", { person: jonas, options });
  const { page } = tab;
  await page.goto(`${box.url}/ladders`);
  await calm(tab, "all ladders on a phone");
  await page.click("text=first line");
  await seen(
    tab,
    `/mei@example\\.org ?at once.*jonas@example\\.org ?after 10 min.*again every 5 min/.test(${text("rungs")})`,
  );
  await seen(
    tab,
    `/mei@example\\.org rung 1.*no way to reach them: nothing would ring/.test(${text("found")})`,
  );
  assert.equal(await page.locator("#ladder-form").count(), 0, "a member reads it");
  assert.ok(await tab.run("document.documentElement.scrollWidth <= innerWidth"));
  await calm(tab, "a ladder on a phone");
};

/** By plain forms: a rung more, a question of the draft, saved. */
const withoutScript: Step = async ({ box, visit }) => {
  const { ladder } = await scene(box);
  const tab = await visit("/ladders/first%20line", { options: { javaScriptEnabled: false } });
  const { page } = tab;
  const press = (button: string) =>
    Promise.all([page.waitForNavigation(), page.click(`button:text-is("${button}")`)]);
  await press("Add a rung");
  await press("Next 03:00");
  assert.equal(await page.inputValue("[name=s2_after]"), "25", "what was typed stays");
  assert.match((await page.textContent("#found")) ?? "", /Not saved yet/);
  await press("Save");
  assert.equal((await ladder()).steps.length, 3);
  await page.goto(`${box.url}/simulate?project=shop&rule=errors&level=500`);
  assert.match(page.url(), /\/ladders\/first%20line\?level=500&rule=shop%2Ferrors$/);
};

const STEPS: Record<string, Step> = { previewFollows, readOnAPhone, withoutScript };

export async function laddersHold(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    await onStage(browser, step).catch((error) => {
      throw new Error(`ladders, ${name}: ${error.message}`, { cause: error });
    });
    console.log(`  ok ladders ${name}`);
  }
}
