/** The list of alerts: triage by keyboard, what others do meanwhile, a storm. How it looks: `every-screen.ts`. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import type { TestBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";
import { SIZES } from "../tab.ts";
import { enlarge, followed, onStage, type Stage, seen, soon } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

/** A rule whose second step waits, and as many alerts of it as are asked for. */
async function scene(box: TestBox) {
  const token = await box.project("shop");
  const step = (after_minutes: number) => ({
    after_minutes,
    accounts: [box.owner.accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  const rule = { name: "errors", identifier_keys: ["n"], escalations: [step(0), step(10)] };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const fire = async (n: string, level = 400, message = "payment 4711 failed") => {
    await box.ingest(token, { message, level, keys: { n } });
  };
  return { token, fire, ladder: (id: number) => ladder(box, id) };
}

const ladder = (box: TestBox, id: number) =>
  box.tenant.store.sql("SELECT state, step, step_at FROM alerts WHERE id = ?").get(id) as {
    state: string;
    step: number;
    step_at: number | null;
  };

const row = (id: number, more = "") => `document.querySelector("#row-${id}${more}")`;

/** AC-11.2: two are acknowledged by keys alone, and given back with their ladders. */
const byKeys: Step = async ({ box, run, visit, calm }) => {
  const { fire, ladder } = await scene(box);
  for (const n of ["a", "b", "c"]) await fire(n);
  await settle(box);
  const before = [1, 2, 3].map(ladder);
  run();
  const tab = await visit("/alerts");
  const { keyboard } = tab.page;
  for (const key of ["j", "j", "x", "k", "x"]) await keyboard.press(key);
  await seen(tab, `document.querySelector("[data-count]").textContent === "2"`);
  await keyboard.press("a");
  await seen(tab, `/Acknowledged 2 alerts/.test(document.querySelector("#said").textContent)`);
  assert.deepEqual(
    [1, 2, 3].map((id) => ladder(id).state),
    ["open", "acknowledged", "acknowledged"],
  );
  await keyboard.press("u");
  await seen(tab, `/open again/.test(document.querySelector("#said").textContent)`);
  for (const id of [2, 3]) {
    const [was, is] = [before[id - 1], ladder(id)];
    assert.deepEqual([is.state, is.step], ["open", was?.step]);
    const later = (is.step_at ?? 0) - (was?.step_at ?? 0);
    assert.ok(later >= 0 && later <= 10, `its next step waits as long as before: ${later} s`);
  }
  await tab.page.click("#row-3 label.pick");
  await keyboard.press("a");
  await seen(tab, `/Acknowledged #3/.test(document.querySelector("#said").textContent)`);
  await keyboard.press("u");
  await seen(tab, `/open again/.test(document.querySelector("#said").textContent)`);
  await tab.page.click("#row-3 label.pick");
  assert.equal(await tab.run(`document.querySelector("[data-count]").textContent`), "1");
  await calm(tab, "after keys");
};

/** A finger that comes twice at one place of a row, or of the alert's page, acknowledges and ends nothing. */
const pressedTwice: Step = async ({ box, run, visit, calm }) => {
  const { fire, ladder } = await scene(box);
  for (const n of ["a", "b"]) await fire(n);
  await settle(box);
  run();
  for (const [id, path, button, taken] of [
    [1, "/alerts?mine=true", "#row-1 .row-actions button", "Taken"],
    [2, "/a/2", '#actions button:text-is("Acknowledge")', "You have it"],
  ] as const) {
    const tab = await visit(path, { options: { viewport: { width: 360, height: 740 } } });
    const pressed = tab.page.locator(button);
    await pressed.evaluate((at) => at.scrollIntoView({ block: "center" }));
    const place = await pressed.boundingBox();
    assert.ok(place);
    const [x, y] = [place.x + place.width / 2, place.y + place.height / 2];
    const stood = await tab.run(`scrollY`);
    await tab.page.mouse.dblclick(x, y, { delay: 40 });
    await seen(tab, `document.querySelector(".taken") !== null`);
    assert.equal(await tab.run(`scrollY`), stood);
    // Not by its rest alone: nothing that can be pressed is there.
    const there = `document.elementFromPoint(${x}, ${y})`;
    assert.equal(await tab.run(`${there}.textContent`), taken);
    assert.equal(await tab.run(`${there}.closest("button, a, summary, label")`), null);
    await tab.page.mouse.click(x, y);
    assert.equal(ladder(id).state, "acknowledged");
    await calm(tab, `${path}, pressed twice`);
    await tab.close();
  }
};

/** AC-11.3, and that a row which leaves stays where it was. */
const othersActs: Step = async ({ box, run, visit, calm }) => {
  const { fire } = await scene(box);
  for (const n of ["a", "b", "c"]) await fire(n);
  await settle(box);
  run();
  const bob = box.person("member", "bob@example.org");
  const tab = await visit("/alerts");
  await followed(box);
  await tab.page.keyboard.press("j");
  const acked = await box.api("POST", "/v1/alerts/2/ack", undefined, bob.key);
  assert.equal(acked.status, 200);
  await soon(tab, { ms: 1000, what: "an acknowledgement is seen" }, () =>
    seen(tab, `${row(2)}?.hasAttribute("data-gone")`),
  );
  assert.equal(await tab.run(`/bob@example.org has it/.test(${row(2)}.textContent)`), true);
  assert.deepEqual(
    await tab.run(`[...document.querySelectorAll("[data-row]")].map(({ id }) => id)`),
    ["row-3", "row-2", "row-1"],
  );
  await seen(tab, `document.title === "(2) Alerts · box"`);
  await calm(tab, "after another's acknowledgement");
};

/** What became of a row that one's own form sends away comes with the answer to the form. */
const ownAct: Step = async ({ box, visit, calm }) => {
  const { fire } = await scene(box);
  for (const n of ["a", "b"]) await fire(n);
  await settle(box);
  const tab = await visit("/alerts");
  const answers = tab.page.waitForResponse((response) => response.request().method() === "POST");
  await tab.page.keyboard.press("j");
  await tab.page.keyboard.press("a");
  const answer = await (await answers).text();
  assert.match(answer, /id="row-2" data-row="[^"]*" data-gone[\s\S]*have it/);
  await seen(tab, `${row(2)}.hasAttribute("data-gone") && /have it/.test(${row(2)}.textContent)`);
  await calm(tab, "after one's own acknowledgement");
};

/** Where each row begins and how high it is. */
const PLACES = `Object.fromEntries([...document.querySelectorAll("[data-row]")].map((row) =>
  [row.id, [Math.round(row.getBoundingClientRect().top + scrollY), Math.round(row.getBoundingClientRect().height)]]))`;

/** Whatever becomes of an alert, by whomever: no row is higher or lower than before, with larger text too. */
const rowsStandStill: Step = async ({ box, run, visit, calm }) => {
  const { fire } = await scene(box);
  const bob = box.person("member", "bob@example.org");
  let first = 1;
  run();
  for (const width of [360, 1280])
    for (const isLarge of [false, true]) {
      for (const n of ["a", "b", "c", "d", "e", "f"]) await fire(`${n}${first}`);
      await settle(box);
      const [a, b, c, d, e] = [0, 1, 2, 3, 4].map((n) => first + n) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const tab = await visit("/alerts", { options: { viewport: { width, height: 740 } } });
      if (isLarge) await enlarge(tab);
      await followed(box);
      const before = await tab.run(PLACES);
      const others: [path: string, body?: object][] = [
        [`/v1/alerts/${a}/ack`],
        [`/v1/alerts/${b}/resolve`],
        [`/v1/alerts/${c}/escalate`],
        [
          "/v1/alerts/bulk",
          {
            ids: [String(d)],
            verb: "silence",
            until: Math.floor(box.clock.now() / 1000) + 3600,
            reason: "deploy",
          },
        ],
      ];
      for (const [path, body] of others)
        assert.equal((await box.api("POST", path, body, bob.key)).status, 200, path);
      for (const n of [a, b]) await seen(tab, `${row(n)}?.hasAttribute("data-gone")`);
      await seen(tab, `${row(d, ".row-silenced")} !== null`);
      assert.deepEqual(await tab.run(PLACES), before, `others' acts, ${width} px, ${isLarge}`);
      await tab.page.click(`#row-${e} button[data-key=a]`);
      await seen(tab, `${row(e)}?.hasAttribute("data-gone")`);
      assert.deepEqual(await tab.run(PLACES), before, `one's own act, ${width} px, ${isLarge}`);
      await calm(tab, "rows stand still", SIZES);
      await tab.close();
      for (let id = first; id < first + 6; id++) await box.api("POST", `/v1/alerts/${id}/resolve`);
      first += 6;
    }
};

/** A row that stands for many counts as many, and leads to a list of its own. */
const groupCounts: Step = async ({ box, visit, calm }) => {
  const { fire } = await scene(box);
  for (let n = 0; n < 12; n++) await fire(`g${n}`);
  await settle(box);
  const tab = await visit("/alerts");
  await tab.page.click("[data-row] label.pick");
  await seen(tab, `document.querySelector("[data-count]").textContent === "12"`);
  await calm(tab, "a selected group");
  await Promise.all([
    tab.page.waitForURL(/q=project%3Ashop\+rule%3Aerrors/),
    tab.page.click("[data-row] .row-title a"),
  ]);
  assert.equal(await tab.run(`document.querySelectorAll("[data-row]").length`), 12);
  await calm(tab, "a group's own list");
};

/** AC-11.4. */
const filtersStay: Step = async ({ box, visit, calm }) => {
  const { fire } = await scene(box);
  await fire("a", 400, "disk of db1 is full");
  await fire("b", 500);
  await settle(box);
  const tab = await visit("/alerts");
  const shown = () =>
    tab.run(`[...document.querySelectorAll("[data-row]")].map(({ id }) => id).join()`);
  await tab.page.keyboard.press("/");
  await tab.page.keyboard.type("payment");
  await Promise.all([tab.page.waitForURL(/q=payment/), tab.page.keyboard.press("Enter")]);
  assert.match(
    String(await tab.run(`document.querySelector(".filter-set").textContent`)),
    /payment/,
  );
  await tab.page.keyboard.press("/");
  await tab.page.click("#filter-level > summary");
  await Promise.all([
    tab.page.waitForURL(/level%3Acritical/),
    tab.page.click("#filter-level a:text-is('critical')"),
  ]);
  assert.equal(await shown(), "row-2");
  await tab.page.reload();
  assert.equal(await shown(), "row-2");
  assert.equal(await tab.page.inputValue("#q"), "payment level:critical");
  const address = new URL(tab.page.url());
  const other = await visit(address.pathname + address.search);
  assert.equal(await other.run(`document.querySelectorAll("[data-row]").length`), 1);
  await tab.page.goto(`${box.url}/a/2`);
  await tab.page.goBack();
  assert.equal(await shown(), "row-2");
  await calm(other, "a filtered list");
};

/** AC-11.5. */
const storm: Step = async ({ box, run, visit, calm }) => {
  const { fire } = await scene(box);
  for (const n of ["a", "b", "c"]) await fire(n);
  await settle(box);
  run();
  const tab = await visit("/alerts");
  await followed(box);
  for (const key of ["j", "j", "x"]) await tab.page.keyboard.press(key);
  let asked = 0;
  tab.page.on("request", (request) => {
    if (request.headers()["x-sections"] !== undefined) asked += 1;
  });
  const start = performance.now();
  for (let n = 0; n < 200; n++) {
    await fire(`storm ${n}`, 500);
    const ahead = start + (n + 1) * 25 - performance.now();
    if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
  }
  const during = asked;
  const seconds = (performance.now() - start) / 1000;
  assert.ok(during <= Math.ceil(seconds * 2), `${during} requests in ${seconds.toFixed(1)} s`);
  await seen(tab, `/new · Show/.test(document.querySelector("[data-new]").textContent)`);
  assert.equal(await tab.run("document.activeElement.closest('[data-row]')?.id"), "row-2");
  assert.equal(await tab.run(`${row(2)}.querySelector("input").checked`), true);
  await calm(tab, "a storm");
  console.log(`  200 openings in ${seconds.toFixed(1)} s: ${during} requests for sections`);
};

/** The palette shows an alert by its title, in one text without line breaks between its words. */
const foundReadsWhole: Step = async ({ box, visit, calm }) => {
  const { fire } = await scene(box);
  await fire("a", 400, "payment 4711 failed");
  await fire("b", 400, "payment 4712 failed");
  await settle(box);
  const tab = await visit("/alerts", { options: { viewport: { width: 390, height: 740 } } });
  await tab.page.keyboard.press("Control+k");
  await seen(tab, `document.querySelector("dialog.palette[open]") !== null`);
  await tab.page.keyboard.type("payment");
  await seen(tab, `document.querySelectorAll(".palette-results a[href^='/a/']").length === 2`);
  const found = `document.querySelector(".palette-results a[href='/a/1']")`;
  assert.match(String(await tab.run(`${found}.innerText`)), /payment 4711 failed/);
  await calm(tab, "the palette", SIZES);
};

const STEPS: Record<string, Step> = {
  byKeys,
  pressedTwice,
  othersActs,
  ownAct,
  rowsStandStill,
  groupCounts,
  filtersStay,
  storm,
  foundReadsWhole,
};

export async function alertsHold(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    await onStage(browser, step).catch((error) => {
      throw new Error(`alerts, ${name}: ${error.message}`, { cause: error });
    });
    console.log(`  ok alerts ${name}`);
  }
}
