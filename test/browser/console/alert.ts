/** One alert: its countdowns, its bar on a phone, what two people do at once, and what strangers wrote. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import type { TestBox } from "../../support/box.ts";
import { realClock } from "../../support/clock.ts";
import { settle } from "../../support/until.ts";
import type { Tab } from "../tab.ts";
import { followed, onStage, type Stage, seen, soon } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

async function scene(box: TestBox, message = "payment 4711 failed") {
  const token = await box.project("shop", { retain_logs: true });
  const step = (after_minutes: number) => ({
    after_minutes,
    accounts: [box.owner.accountId],
    schedules: [],
    repeat_minutes: 10,
  });
  const rule = { name: "errors", identifier_keys: ["n"], escalations: [step(0), step(5)] };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const fire = async (n: string, text = message) => {
    await box.ingest(token, { message: text, level: 500, keys: { n } });
    await settle(box);
  };
  await fire("a");
  return { fire };
}

const HOUR = 3_600_000;

/** AC-12.2: the browser's clock is an hour ahead of the box's. */
const countsDown: Step = async ({ box, run, visit, calm }) => {
  await scene(box);
  run();
  // A box's first page takes longer from its time to its first byte: the code is loaded.
  await (await visit("/alerts")).close();
  const tab = await visit("/a/1", { ahead: HOUR });
  for (let look = 0; look < 3; look++) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    const before = box.clock.now();
    const [at, text] = (await tab.run(
      `(({ dateTime, textContent }) => [dateTime, textContent])(document.querySelector("#now time[data-until]"))`,
    )) as [string, string];
    const [, minutes = 0, seconds = 0] = /^(\d+):(\d\d)$/.exec(text)?.map(Number) ?? [];
    // When it was read is known to lie between the two.
    const [most = 0, least = 0] = [before, box.clock.now()].map(
      (now) => (Date.parse(at) - now) / 1000,
    );
    const shown = minutes * 60 + seconds;
    // A second that has begun is counted whole; a timer of the page may come a little late.
    const isRight = shown >= Math.ceil(least) - 1 && shown <= Math.ceil(most) + 1;
    assert.ok(isRight, `${text} is shown where ${least} to ${most} s are left`);
  }
  await calm(tab, "an alert that counts down");
};

/** AC-12.4. */
const barAtHand: Step = async ({ box, run, visit, calm }) => {
  await scene(box);
  run();
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const tab = await visit("/a/1", { options });
  const button = tab.page.locator("#actions button", { hasText: "Acknowledge" });
  const place = await button.boundingBox();
  assert.ok(place !== null && place.height >= 44 && place.width >= 44, JSON.stringify(place));
  assert.ok(place.y > (740 * 2) / 3, `it begins ${place.y} px from the top`);
  await calm(tab, "an alert on a phone");
  await button.tap();
  await seen(tab, `/has it/.test(document.querySelector("#head .state").textContent)`);
  const there = await tab.run(
    `document.elementFromPoint(${place.x + place.width / 2}, ${place.y + place.height / 2}).textContent`,
  );
  assert.equal(there, "You have it");
  // A finger that comes twice presses nothing, whatever stands there by now.
  await tab.page.touchscreen.tap(place.x + place.width - 4, place.y + place.height / 2);
  // *Resolve* stands far from the thumb.
  const resolve = await tab.page.locator("#do-resolve button").boundingBox();
  assert.ok(resolve !== null && place.y - resolve.y > 300, JSON.stringify(resolve));
  assert.equal(await tab.page.locator("#actions button", { hasText: "Resolve" }).count(), 0);
};

/** From a tablet on the actions are one line, and the rest of them one press away. */
const oneLine: Step = async ({ box, visit, calm }) => {
  await scene(box);
  for (const [width, panes] of [
    [768, "1"],
    [820, "1"],
    [1280, "2"],
    [1440, "2"],
  ] as const) {
    const tab = await visit("/a/1", { options: { viewport: { width, height: 800 } } });
    await tab.page.context().addCookies([{ name: "panes", value: panes, url: box.url }]);
    await tab.page.reload();
    const height = Number(await tab.run(`document.querySelector(".act").offsetHeight`));
    assert.ok(height < 90, `${width} px wide: ${height} px high`);
    await tab.page.click("[popovertarget=more]");
    for (const name of ["Snooze …", "Note", "Start an incident report"])
      assert.ok(await tab.page.locator(".more .button", { hasText: name }).isVisible(), name);
    await calm(tab, `all actions, ${width} px`);
    await tab.close();
  }
};

/** AC-12.6: what somebody else did takes the button away, not the focus. */
const twoPeople: Step = async ({ box, run, visit, calm }) => {
  await scene(box);
  run();
  const bob = box.person("member", "bob@example.org");
  const [mine, theirs] = [await visit("/a/1"), await visit("/a/1", { person: bob })];
  await followed(box, 2);
  const ack = "#actions form[action$='/ack'] button";
  await mine.page.focus(ack);
  await theirs.page.keyboard.press("a");
  await soon(mine, { ms: 1000, what: "the button is gone" }, () =>
    seen(mine, `document.querySelector("${ack}") === null`),
  );
  assert.notEqual(await mine.run("document.activeElement.localName"), "body");
  assert.equal(
    await mine.run(`/bob@example.org has it/.test(document.querySelector("#head").textContent)`),
    true,
  );
  // What somebody did changes what stands on the page; nothing else moved it.
  await mine.run("window.shifts = []; 0");
  await calm(mine, "after another took it");
};

/** What the browser's own observer counted of a page, as its layout shift. */
const shiftOf = async (tab: Tab): Promise<number> => {
  await tab.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))");
  return Number(
    await tab.run("window.shifts.reduce((sum, shift) => sum + Number.parseFloat(shift), 0)"),
  );
};

/** The list, an alert and on-call move less than this as they load, and as what another person did comes in. */
const MOST_SHIFT = 0.02;

const shiftsLittle: Step = async ({ box, run, visit }) => {
  const { fire } = await scene(box);
  await fire("b");
  const bob = box.person("member", "bob@example.org");
  const base = "/v1/projects/shop/oncall/schedules";
  const layer = {
    name: "weekly",
    participants: [box.owner.accountId],
    rotation_start: 1,
    shift_minutes: 1440,
  };
  const made = await box.api("POST", base, { name: "first", timezone: "UTC", layers: [layer] });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  run();
  const ack = () => box.api("POST", "/v1/alerts/1/ack", undefined, bob.key);
  const cover = () => {
    const now = Math.floor(box.clock.now() / 1000);
    const one = { account_id: bob.accountId, starts_at: now, ends_at: now + 3600 };
    return box.api("POST", `${base}/first/overrides`, one);
  };
  const pages = [
    ["/alerts", ack, `document.querySelector("#row-1").hasAttribute("data-gone")`],
    ["/a/1", ack, `/bob@example.org has it/.test(document.querySelector("#head").textContent)`],
    ["/oncall", cover, `/bob@example.org/.test(document.querySelector("#now").textContent)`],
    [
      "/oncall/shop/first",
      cover,
      `/bob@example.org/.test(document.querySelector("main section").textContent)`,
    ],
  ] as const;
  for (const width of [360, 1280])
    for (const [path, change, isSeen] of pages) {
      const tab = await visit(path, { options: { viewport: { width, height: 740 } } });
      await followed(box);
      const loaded = await shiftOf(tab);
      assert.ok(loaded <= MOST_SHIFT, `${path}, ${width} px, loaded: ${loaded}`);
      assert.ok((await change()).status < 300);
      await seen(tab, isSeen);
      const live = (await shiftOf(tab)) - loaded;
      assert.ok(
        live <= MOST_SHIFT,
        `${path}, ${width} px, after a change: ${live}: ${await tab.run("window.shifts.join()")}`,
      );
      await tab.close();
      await box.api("POST", "/v1/alerts/1/unack");
      for (const { id } of (await box.api("GET", `${base}/first/overrides`)).body.overrides)
        await box.api("DELETE", `${base}/first/overrides/${id}`);
    }
};

/** AC-12.7: what comes later in the page stands lower, or in the second column. */
const readsAsItStands: Step = async ({ box, visit }) => {
  const { fire } = await scene(box);
  await fire("b", "disk of db1 is full");
  await box.api("POST", "/v1/alerts/1/notes", { text: "We **look**.\n\n- at it" });
  for (const width of [360, 1280]) {
    const tab = await visit("/a/1", { options: { viewport: { width, height: 740 } } });
    const places = (await tab.run(
      `[...document.querySelectorAll("main section:not(.actions, .more)")].filter((one) => one.offsetHeight > 0).map((one) => { const { top, left, bottom } = one.getBoundingClientRect(); return { id: one.id, top, left, bottom }; })`,
    )) as { id: string; top: number; left: number; bottom: number }[];
    assert.ok(places.length > 3, `${places.length} sections`);
    for (const [i, { id, top, left }] of places.entries()) {
      const before = places[i - 1];
      if (before === undefined) continue;
      const isBeside = Math.abs(before.top - top) < 2 && left > before.left;
      assert.ok(isBeside || top >= before.bottom - 1, `${id} stands before ${before.id}`);
    }
    await tab.close();
  }
};

/** AC-12.5 and V7: nothing of it runs, and nothing is asked of elsewhere. */
const nothingRuns: Step = async ({ box, visit }) => {
  const { fire } = await scene(box);
  const tab = await visit("/alerts");
  const each = Math.ceil(XSS_VECTORS.length / 24);
  const chosen = XSS_VECTORS.filter((_vector, i) => i % each === 0);
  for (const [i, vector] of chosen.entries()) {
    await fire(`x${i} ${vector.slice(0, 100)}`, `${vector} failed`);
    const id = i + 2;
    const own = XSS_VECTORS.slice(i * each, (i + 1) * each).join("\n\n");
    const text = own.slice(0, 4000).replaceAll("\0", "").toWellFormed();
    assert.equal((await box.api("POST", `/v1/alerts/${id}/notes`, { text })).status, 201);
    for (const path of [`/a/${id}`, `/a/${id}/lines`]) {
      await tab.page.goto(box.url + path);
      await tab.run("for (const one of document.querySelectorAll('main *')) one.focus?.(); 0");
    }
  }
  await tab.page.goto(`${box.url}/alerts`);
  assert.deepEqual(
    tab.noise.filter((line) => !line.startsWith(`request: ${box.url}/`)),
    [],
  );
};

/** AC-V3: with scripts off the list reads, and an alert is acknowledged, noted on and resolved. */
const withoutScript: Step = async ({ box, visit }) => {
  await scene(box);
  await box.clock.turn(400_000);
  const { page } = await visit("/alerts", { options: { javaScriptEnabled: false } });
  const press = (name: string) =>
    Promise.all([
      page.waitForNavigation(),
      page.locator(`main button:text-is("${name}")`).first().click(),
    ]);
  await press("Acknowledge");
  assert.match((await page.textContent("#said")) ?? "", /Acknowledged #1\./);
  await Promise.all([page.waitForNavigation(), page.click("#said button")]);
  assert.match((await page.textContent("#said")) ?? "", /#1 is open again/);
  await page.click("#row-1 a.message");
  await page.fill("#note-text", "provider is down");
  await press("Add the note");
  assert.match((await page.textContent("#timeline")) ?? "", /provider is down/);
  await press("Resolve");
  assert.match((await page.textContent("#head .state")) ?? "", /Resolved/);
};

const STEPS: Record<string, Step> = {
  countsDown,
  barAtHand,
  oneLine,
  twoPeople,
  shiftsLittle,
  readsAsItStands,
  nothingRuns,
  withoutScript,
};

export async function alertHolds(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    const clock = step === countsDown ? realClock() : undefined;
    await onStage(browser, step, clock).catch((error) => {
      throw new Error(`alert, ${name}: ${error.message}`, { cause: error });
    });
    console.log(`  ok alert ${name}`);
  }
}
