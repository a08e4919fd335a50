/** Two people, two browsers, one storm: no act is lost or done twice, and both see the truth within a second. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import type { TestBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";
import type { Tab } from "../tab.ts";
import { onStage, seen, soon } from "./stage.ts";

/** So few alerts of one rule that a list shows each in a row of its own. */
const EACH = 4;
const RULES = 12;
const ROUNDS = 8;
/** Openings that come while both act. */
const STORM = 100;
const STORM_MS = 5_000;

/** Alerts 1 to 48 of twelve rules; `storm` opens many more of a thirteenth. */
async function scene(box: TestBox) {
  const token = await box.project("shop");
  for (let n = 0; n <= RULES; n++) {
    const rule = { name: `rule ${n}`, identifier_keys: ["n"], match: { tags: [`kind${n}`] } };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  }
  for (let n = 0; n < RULES * EACH; n++)
    await box.ingest(token, {
      message: "payment failed",
      level: 500,
      keys: { n: `k${n}` },
      tags: [`kind${n % RULES}`],
    });
  await settle(box);
  return {
    async storm() {
      const start = performance.now();
      for (let n = 0; n < STORM; n++) {
        const [keys, tags] = [{ n: `s${n}` }, [`kind${RULES}`]];
        await box.ingest(token, { message: "disk full", level: 400, keys, tags });
        const ahead = start + ((n + 1) * STORM_MS) / STORM - performance.now();
        if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
      }
    },
  };
}

const said = (tab: Tab) =>
  tab.run(`document.querySelector("#said").textContent`) as Promise<string>;

/** Selects rows, so that the next key is for them all. */
async function select({ page, run }: Tab, ids: readonly number[]): Promise<void> {
  for (const id of ids) await page.click(`#row-${id} label.pick`);
  const count = await run(`document.querySelector("[data-count]").textContent`);
  assert.equal(count, String(ids.length));
}

/** Presses a key; what the page says of it. */
async function press(tab: Tab, key: string): Promise<string> {
  // What an earlier key was answered isn't this one's answer, but has the way back in it: the next answer draws the line anew.
  await tab.run(`document.querySelector("#said").setAttribute("data-heard", "")`);
  const answer = tab.page.waitForResponse((response) => response.request().method() === "POST");
  await tab.page.keyboard.press(key);
  assert.equal((await answer).status(), 200);
  await seen(tab, `document.querySelector("#said:not([data-heard])")?.textContent.trim()`);
  return said(tab);
}

/** How many alerts a page says that it has acknowledged: "Acknowledged #7." or "Acknowledged 2 alerts." */
function claimed(text: string): number {
  const [, one, many] = /Acknowledged (?:#(\d+)|(\d+) alerts)\./.exec(text) ?? [];
  return one === undefined ? Number(many ?? 0) : 1;
}

const counts = (box: TestBox) =>
  Object.fromEntries(
    box.tenant.store
      .sql<[], { state: string; n: number }>("SELECT state, count(*) AS n FROM alerts GROUP BY 1")
      .all()
      .map(({ state, n }) => [state, n]),
  );

/** Acknowledgements in the history of each alert. */
const acknowledgements = (box: TestBox) =>
  box.tenant.store
    .sql<[], { alert_id: number; n: number }>(
      "SELECT alert_id, count(*) AS n FROM timeline WHERE kind = 'acknowledged' GROUP BY 1",
    )
    .all();

export async function twoPeopleHold(browser: Browser): Promise<void> {
  await onStage(browser, async ({ box, run, visit, calm }) => {
    const { storm } = await scene(box);
    run();
    const person = box.person("member", "bob@example.org");
    const [ann, bob] = [await visit("/alerts"), await visit("/alerts", { person })];
    for (const tab of [ann, bob])
      await seen(tab, `document.querySelectorAll(".row").length === 48`);
    const storming = storm();
    // A story that fails before it has been waited for tells why itself.
    storming.catch(() => {});
    let done = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // The second of the three is wanted by both.
      const [x, y, z] = [1, 2, 3].map((n) => round * 3 + n) as [number, number, number];
      await Promise.all([select(ann, [x, y]), select(bob, [y, z])]);
      const texts = await Promise.all([press(ann, "a"), press(bob, "a")]);
      assert.equal(
        texts.map(claimed).reduce((a, b) => a + b),
        3,
        texts.join(" | "),
      );
      const lost = texts.filter((text) => text.includes(`acknowledged #${y} `));
      assert.equal(lost.length, 1, `one of them is told whose #${y} is: ${texts.join(" | ")}`);
      done += 3;
      for (const tab of [ann, bob])
        for (const id of [x, y, z])
          await seen(tab, `document.querySelector("#row-${id}").hasAttribute("data-gone")`);
    }
    await storming;
    await settle(box);
    // What one takes back is open for both, and what the other then resolves is.
    await select(bob, [40, 41]);
    await press(bob, "a");
    const back = await press(bob, "u");
    assert.match(back, /open again/);
    const open = RULES * EACH + STORM - done;
    assert.deepEqual(counts(box), { acknowledged: done, open });
    const took = await soon(ann, { ms: 1000, what: "the truth is seen on both" }, async () => {
      for (const tab of [ann, bob]) await seen(tab, `document.title === "(${open}) Alerts · box"`);
    });
    assert.deepEqual(
      acknowledgements(box).map(({ n }) => n),
      Array.from({ length: done + 2 }, () => 1),
    );
    for (const tab of [ann, bob]) await calm(tab, "two people in a storm");
    console.log(
      `  ok two people: ${done} of ${done} acknowledged once in a storm, true on both after ${took.toFixed()} ms`,
    );
  });
}
