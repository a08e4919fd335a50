/** How soon a page answers a finger on a slow machine, and what a storm looks like in the narrow list. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import type { Tx } from "../../../src/ground/store/store.ts";
import { settle } from "../../support/until.ts";
import { SIZES, type Tab } from "../tab.ts";
import { enlarge, followed, onStage, type Stage, seen } from "./stage.ts";

/** How much slower than this machine the page's is. */
const SLOWED = 4;
/** From a press to the paint that follows it, milliseconds. */
const MOST_MS = 100;
/** So often is each tried at the most, until one is in time: the best counts, since whatever else the machine does only adds. */
const TRIES = 20;
const PHONE = { viewport: { width: 390, height: 844 } } as const;

/** Longest event since the last look, by the browser's own measure, in steps of 8 ms. Shorter ones aren't told. */
const WATCH = `window.longest = 0; new PerformanceObserver((list) => {
  for (const { duration, interactionId } of list.getEntries())
    if (interactionId > 0) window.longest = Math.max(window.longest, duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true })`;
const LONGEST = `new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
  const { longest } = window; window.longest = 0; done(longest); }, 150)))`;

/** A rule for messages with the word, of which each opens an alert that pages the owner, and so many of it. */
async function alertsOf(
  { box }: Stage,
  word: string,
  { count, level }: { count: number; level: number },
) {
  const token = await box.project(word);
  const escalations = [{ accounts: [box.owner.accountId], schedules: [], after_minutes: 0 }];
  const rule = { name: word, identifier_keys: ["n"], max_open: 1000, escalations };
  assert.equal((await box.api("POST", `/v1/projects/${word}/rules`, rule)).status, 201);
  for (let n = 0; n < count; n++) {
    const message =
      n % 3 === 0 ? `${word}: no answer on port 443` : `${word}: ${n} timeouts in a row`;
    assert.equal((await box.ingest(token, { message, level, keys: { n: String(n) } })).status, 202);
  }
  await settle(box);
}

/** The best of some tries of each thing that is pressed most. */
async function answersAtOnce(stage: Stage): Promise<void> {
  // As many as are tried; more of one rule would be one row.
  for (const word of ["shop", "mail"]) await alertsOf(stage, word, { count: 10, level: 400 });
  stage.run();
  const tab = await stage.visit("/alerts", { options: PHONE });
  await followed(stage.box);
  const debug = await tab.page.context().newCDPSession(tab.page);
  await debug.send("Emulation.setCPUThrottlingRate", { rate: SLOWED });
  const onList = await paceOf(tab, {
    "acknowledge on the list": () => tab.page.click(".row:not([data-gone]) .row-actions button"),
    "open the filter": () => tab.page.click("#filters > summary"),
    "a key": () => tab.page.keyboard.press("j"),
  });
  await tab.page.goto(`${stage.box.url}/a/1`);
  const onAlert = await paceOf(tab, {
    "more actions": () => tab.page.click("[popovertarget=more]"),
  });
  for (const [what, ms] of [...onList, ...onAlert])
    assert.ok(ms <= MOST_MS, `${what}: ${ms} ms at the best of ${TRIES}, ${SLOWED} × slower`);
  const words = [...onList, ...onAlert].map(([what, ms]) => `${what} ${ms}`).join(", ");
  console.log(`  at ${SLOWED} × slower, ms: ${words}`);
}

/** So many alerts are open, ten of each rule: more of one would be one row. */
const MANY = 10_000;

/** Keys on a desk, where a page of ten thousand shows fifty rows and one of them beside. */
async function keysAmongMany(stage: Stage): Promise<void> {
  const { box } = stage;
  await box.project("shop");
  const made = await box.api("POST", "/v1/projects/shop/rules", { name: "first" });
  assert.equal(made.status, 201);
  box.tenant.store.write((tx) => manyAlerts(tx, MANY));
  stage.run();
  const tab = await stage.visit("/alerts", { options: { viewport: { width: 1440, height: 900 } } });
  assert.match((await tab.page.textContent(".segments")) ?? "", /Open 10,?000/);
  await followed(box);
  const debug = await tab.page.context().newCDPSession(tab.page);
  await debug.send("Emulation.setCPUThrottlingRate", { rate: SLOWED });
  const press = (key: string) => () => tab.page.keyboard.press(key);
  const paces = await paceOf(tab, {
    k: press("k"),
    j: press("j"),
    a: press("a"),
    "j after it": press("j"),
    x: press("x"),
    X: press("X"),
    "/": press("/"),
    "?": press("?"),
    "Ctrl K": press("Control+k"),
  });
  // They did what they are for.
  await seen(tab, `/Open 9,?\\d{3}/.test(document.querySelector(".segments").textContent)`);
  assert.notEqual(
    await tab.run(`document.querySelector("[data-picked]")`),
    null,
    "a row is selected",
  );
  for (const [key, ms] of paces)
    assert.ok(ms <= MOST_MS, `${key}: ${ms} ms at the best of ${TRIES}, ${SLOWED} × slower`);
  const words = paces.map(([key, ms]) => `${key} ${ms}`).join(", ");
  console.log(`  ${MANY} alerts at ${SLOWED} × slower, ms: ${words}`);
}

/** Straight into the tables: as events they would take minutes. */
function manyAlerts(tx: Tx, count: number): void {
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <";
  tx.db.exec(`${numbers} ${count / 10}) INSERT INTO rules (project_id, name, body, created_at, updated_at)
      SELECT project_id, 'rule ' || i, body, 0, 0 FROM rules, n WHERE name = 'first';
    ${numbers} ${count}) INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
        first_seen, last_seen, last_message, identifiers, investigate, page_accounts, updated_seq, opened_at, ladder_from, labels)
      SELECT project_id, r.id, r.name, 'made:' || i, 'open', 't' || (i % 500), 'payment <*> failed after <*> ms',
        200 + 100 * (i % 4), 3, ${tx.at}, ${tx.at}, 'payment ' || i || ' failed after 30 ms', '{"n":"' || i || '"}', 0, '[]', i,
        ${tx.at}, ${tx.at}, '{"host":"web-' || (i % 50) || '"}' FROM n JOIN rules r ON r.name = 'rule ' || (1 + i % ${count / 10})`);
}

const OPENED = "details.menu[open], :popover-open, dialog[open], input[type=search]:focus";

async function paceOf(
  tab: Tab,
  acts: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<[what: string, ms: number][]> {
  const url = tab.page.url();
  await tab.run(`${WATCH}; 0`);
  const paces: [string, number][] = [];
  for (const [what, act] of Object.entries(acts)) {
    let best = Number.POSITIVE_INFINITY;
    for (let n = 0; n < TRIES && best > MOST_MS; n++) {
      await tab.run(LONGEST);
      await act();
      best = Math.min(best, Number(await tab.run(LONGEST)));
      // What it opened is closed again; where nothing was, Escape would leave the page.
      if (await tab.run(`document.querySelector("${OPENED}") !== null`))
        await tab.page.keyboard.press("Escape");
      assert.equal(tab.page.url(), url, `Escape after ${what} left the page`);
    }
    paces.push([what, best]);
  }
  return paces;
}

const edges = (tab: Tab, place: string) =>
  tab.run(
    `[...document.querySelectorAll("${place}")].map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])`,
  ) as Promise<[top: number, bottom: number][]>;

/** 300 alerts, 297 of one rule: one row that counts all of them, and what else is open is not below them. */
async function stormFolds(stage: Stage): Promise<void> {
  await alertsOf(stage, "hosts", { count: 297, level: 300 });
  await alertsOf(stage, "payments", { count: 2, level: 500 });
  await alertsOf(stage, "disk", { count: 1, level: 400 });
  const tab = await stage.visit("/alerts", { options: PHONE });
  const { page } = tab;
  const cards = await edges(tab, "main li.row");
  assert.equal(cards.length, 4, "two critical ones, an error, and one row for the storm");
  const [[end = 0] = []] = await edges(tab, ".nav");
  assert.ok((cards[0]?.[0] ?? 844) <= 230, `the first card at ${cards[0]?.[0]} px`);
  const whole = cards.filter(([, bottom]) => bottom <= end).length;
  assert.ok(whole >= 3, `${whole} whole cards above ${end} px`);
  const group = (await page.locator("main li.row", { hasText: "hosts" }).textContent()) ?? "";
  assert.match(group, /297 alerts/);
  // Its kinds are named with numbers that come to all of it: 198 of one, 99 of the other.
  assert.match(group, /and 197 like it/);
  assert.match(group, /and 98 like it/);
  assert.match((await page.textContent(".segments")) ?? "", /Open 300/);
  await stage.calm(tab, "a storm on a phone");
  await enlarge(tab);
  await stage.calm(tab, "a storm on a phone, 200 % text", SIZES);
  await page.reload();
  await Promise.all([page.waitForURL(/rule%3Ahosts/), page.click("main li.row:has-text('297') a")]);
  await seen(tab, `document.querySelectorAll("main li.row").length > 40`);
  await stage.calm(tab, "a storm's own list");
}

const STEPS = { answersAtOnce, keysAmongMany, stormFolds };

export async function paceHolds(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    await onStage(browser, step);
    console.log(`  ok pace ${name}`);
  }
}
