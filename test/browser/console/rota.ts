/** Life with a rota in a browser: a swap in few actions, and turns that two people have at once. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { onStage, type Stage, seen } from "./stage.ts";

const DAY = 86_400;
const BASE = "/v1/projects/shop/oncall/schedules";
const PAGE = "/oncall/shop/primary";
/** From *On call* on, with whom is asked. */
const MOST_ACTIONS = 4;

/** Days turn between Ann, Bob and the owner; Bob has the next, and Ann the one after. */
async function scene({ box }: Stage, take: number) {
  await box.project("shop");
  const [ann, bob] = ["ann", "bob"].map((name) => box.person("member", `${name}@example.org`));
  assert.ok(ann && bob);
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "daily",
    participants: [box.owner, ann, bob].map(({ accountId }) => accountId),
    rotation_start: now - 3600,
    shift_minutes: 1440,
    take,
  };
  const body = { name: "primary", timezone: "UTC", layers: [layer] };
  assert.equal((await box.api("POST", BASE, body)).status, 201);
  const shift = (n: number) => now - 3600 + n * DAY;
  return { ann, bob, shift };
}

/** Counts what a person does: a press, a choice. */
function hand(page: Page) {
  let actions = 0;
  const done = async (act: Promise<unknown>) => {
    await act;
    actions += 1;
  };
  return {
    press: (selector: string) => done(page.click(selector)),
    choose: (selector: string, value: string) => done(page.selectOption(selector, value)),
    count: () => actions,
  };
}

async function swapIsAskedFor(stage: Stage): Promise<void> {
  const { box, visit, calm } = stage;
  const { ann, bob, shift } = await scene(stage, 1);
  const made = async () => {
    const { overrides } = (await box.api("GET", `${BASE}/primary/overrides`)).body;
    return overrides
      .map((one: { account_id: string; starts_at: number }) => [one.account_id, one.starts_at])
      .toSorted();
  };
  const anns = await visit("/oncall", { person: ann });
  const own = hand(anns.page);
  await own.press("#mine a");
  await anns.page.waitForURL(/swap=/);
  await calm(anns, "a swap");
  await own.choose("#swap select", `${shift(2)}-${shift(3)}`);
  await own.press("#swap button:text-is('Ask them')");
  await seen(
    anns,
    "document.querySelector('#said')?.textContent.includes('until they say yes') === true",
  );
  assert.ok(own.count() < MOST_ACTIONS, `${own.count()} actions to ask`);
  assert.deepEqual(await made(), [], "nothing changes before the yes");

  const bobs = await visit("/oncall", { person: bob });
  const theirs = hand(bobs.page);
  await theirs.press("a:text-is('Answer…')");
  await theirs.press("button:text-is('Take it')");
  await bobs.page.waitForSelector("text=It is yours");
  assert.deepEqual(
    await made(),
    [
      [ann.accountId, shift(2)],
      [bob.accountId, shift(1)],
    ].toSorted(),
  );
  console.log(`a swap: ${own.count()} actions to ask, ${theirs.count()} to answer`);
}

/** Where two have a turn at once, each page says both, and fits. */
async function twoAtOnce(stage: Stage): Promise<void> {
  const { visit, calm } = stage;
  await scene(stage, 2);
  const pictures = process.env["PICTURES"];
  for (const width of [390, 1440])
    for (const path of ["/oncall", PAGE, `${PAGE}/layers`]) {
      const tab = await visit(path, { options: { viewport: { width, height: 844 } } });
      await calm(tab, `${path} at ${width}`);
      if (path !== `${PAGE}/layers`) {
        const text = String(await tab.page.textContent("main"));
        for (const name of ["owner@", "ann@"]) assert.ok(text.includes(name), `${path}: ${name}`);
      }
      const name = `take-${path.replaceAll("/", "-").slice(1)}-${width}.png`;
      if (pictures) await tab.page.screenshot({ path: join(pictures, name), fullPage: true });
      await tab.close();
    }
}

export async function rotaHolds(browser: Browser): Promise<void> {
  await onStage(browser, swapIsAskedFor);
  await onStage(browser, twoAtOnce);
}
