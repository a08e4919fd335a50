/** Silences and heartbeats: by keys and as they are filled in, green with the first ping, and without script. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import type { TestBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";
import { onStage, type Stage, seen, soon } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

async function scene(box: TestBox) {
  const token = await box.project("shop");
  const rule = {
    name: "errors",
    identifier_keys: ["provider"],
    escalations: [{ accounts: [box.owner.accountId], schedules: [], after_minutes: 0 }],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  return async (...providers: string[]) => {
    for (const provider of providers)
      await box.ingest(token, { message: "payment failed", level: 400, keys: { provider } });
    await settle(box);
  };
}

const silences = async (box: TestBox) =>
  (await box.api("GET", "/v1/silences?state=active")).body.silences;
const text = (id: string) => `(document.querySelector("#${id}")?.textContent ?? "")`;

/** AC-18.2: two keys, and what they do is said between them. */
const silencedByKeys: Step = async ({ box, visit, calm }) => {
  const fire = await scene(box);
  await fire("acme", "globex");
  const tab = await visit("/a/1");
  await tab.page.keyboard.press("s");
  await seen(tab, `document.activeElement?.textContent === "1 hour"`);
  await seen(tab, `/Now: silences 1 open alert\\..*#1 /s.test(${text("would")})`);
  await calm(tab, "an alert's silence, before it is made");
  await tab.page.keyboard.press("Enter");
  await seen(tab, `/Quiet until/.test(${text("now")})`);
  const [silence, ...others] = await silences(box);
  assert.deepEqual([others.length, silence.ends_at - silence.starts_at], [0, 3600]);
  assert.deepEqual(silence.match.identifiers, { provider: "acme" });
  await calm(tab, "a silenced alert");
  await tab.page.click(`#quiet button:text-is("+1 h")`);
  await seen(tab, `/is silenced until/.test(${text("said")})`);
  await tab.page.click(`#quiet button:text-is("End now")`);
  await seen(tab, `document.querySelector("#quiet") === null`);
  assert.deepEqual(await silences(box), []);
};

/** A menu of an alert is seen whole on a phone. */
const menusFitPhone: Step = async ({ box, visit, calm }) => {
  const fire = await scene(box);
  await fire("acme");
  const tab = await visit("/a/1", { options: { viewport: { width: 360, height: 740 } } });
  for (const id of ["assign", "silence", "snooze"]) {
    if (!(await tab.run(`document.querySelector("#more").matches(":popover-open")`)))
      await tab.page.click("[popovertarget=more]");
    await tab.page.click(`#${id} > summary`);
    const { left, right } = (await tab.run(
      `(({ left, right }) => ({ left, right }))(document.querySelector("#${id} > :not(summary)").getBoundingClientRect())`,
    )) as { left: number; right: number };
    assert.ok(left >= 0 && right <= 360, `${id} stands from ${left} to ${right}`);
    await tab.page.keyboard.press("Escape");
  }
  await calm(tab, "an alert's menus on a phone");
};

/** AC-18.1 on the page: it follows what is typed, writes nothing, and says what is then held. */
const previewFollows: Step = async ({ box, run, visit, calm }) => {
  const fire = await scene(box);
  await fire("acme", "globex");
  const tab = await visit("/silences/new");
  const { page } = tab;
  await page.fill("[name='match/rule']", "errors");
  await seen(tab, `/Now: silences 2 open alerts\\..*#2 .*#1 /s.test(${text("would")})`);
  await seen(tab, `/kept back 2 alerts, 2 pages/.test(${text("would")})`);
  await page.fill("[name='match/identifiers']", "provider=acme");
  await seen(tab, `/Now: silences 1 open alert\\..*#1 /s.test(${text("would")})`);
  assert.deepEqual(await silences(box), []);
  await calm(tab, "a silence that is filled in");
  await page.fill("[name=reason]", "deploy 41");
  await Promise.all([page.waitForURL(/\/silences$/), page.click("#silence-form .button")]);
  assert.match((await page.textContent("#silences")) ?? "", /shop|errors/);
  run();
  // Each change and what it holds is seen on the open page.
  const [{ id }] = await silences(box);
  await fire("acme");
  await box.api("PATCH", `/v1/silences/${id}`, { reason: "deploy 42" });
  await seen(tab, `/deploy 42/.test(${text("silences")})`);
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await seen(tab, `/Ended: /.test(${text("said")})`);
  await seen(tab, `/Nothing is silenced/.test(${text("silences")})`);
  await calm(tab, "an ended silence");
};

/** The address is shown once, and the page turns green by itself while it stands there. */
const firstPingIsGreen: Step = async ({ box, run, visit, calm }) => {
  await scene(box);
  run();
  const tab = await visit("/heartbeats/new");
  const { page } = tab;
  await page.fill("[name=name]", "nightly backup");
  // By a key: the driver's own choice is no input to the browser, and what the chosen way shows would count as moved.
  await page.locator("[name=how]").press("ArrowDown");
  assert.equal(await page.inputValue("[name=how]"), "cron");
  await page.fill("[name=cron]", "15 3 * * *");
  await seen(tab, `/03:15/.test(${text("would")})`);
  await calm(tab, "a heartbeat that is filled in");
  // The page follows what happens once its stream is open; the one before it followed nothing of jobs.
  const follows = page.waitForResponse((answer) => /\/live\?watch=.*heartbeats/.test(answer.url()));
  await Promise.all([
    page.waitForURL(/heartbeats\/[0-9a-f]+$/),
    follows,
    page.click("#form .button"),
  ]);
  await seen(tab, `/waiting for its first ping/.test(${text("first")})`);
  await calm(tab, "a heartbeat's address");
  const address = (await page.textContent("#ping-address")) ?? "";
  assert.equal((await fetch(address, { method: "POST", body: "copied 3 files" })).status, 200);
  await soon(tab, { ms: 1500, what: "the first ping is seen" }, () =>
    seen(tab, `/has reported/.test(${text("first")})`),
  );
  assert.equal(await page.textContent("#ping-address"), address, "what is shown once stands");
  await seen(tab, `/copied 3 files/.test(${text("message")})`);
  await page.reload();
  assert.equal(await page.locator("#ping-address").count(), 0);
  await calm(tab, "a heartbeat that is heard");
};

/** Nobody tells that a job is late: the page turns at its second, by the box's clock, wherever the browser's stands. */
const lateAtItsSecond: Step = async ({ box, run, visit, calm }) => {
  await scene(box);
  const made = await box.api("POST", "/v1/projects/shop/heartbeats", {
    name: "tick",
    period_seconds: 20,
    grace_seconds: 60,
  });
  await fetch(new URL(made.body.ping_url, box.url), { method: "POST" });
  await settle(box);
  await box.clock.turn(5_000);
  const { expected_at } = (await box.api("GET", `/v1/projects/shop/heartbeats/${made.body.id}`))
    .body;
  const { next } = box.tenant.changes.after(null);
  run();
  const list = await visit("/heartbeats", { ahead: 3_600_000 });
  const one = await visit(`/heartbeats/${made.body.id}`);
  let asked = 0;
  list.page.on("request", (request) => {
    if (!request.url().includes("/assets/")) asked++;
  });
  assert.match(String(await list.run(text("heartbeats"))), /None of 1 heartbeat is missing/);
  await seen(list, `/next by 09:01, expected 09:00 \\(in \\d+ s\\)/.test(${text("heartbeats")})`);
  const isLate = `/1 late, of 1/.test(${text("heartbeats")})`;
  for (let isEarly = false; box.clock.now() < expected_at * 1000; ) {
    isEarly = (await list.run(isLate)) === true;
    assert.ok(!isEarly || box.clock.now() >= expected_at * 1000, "late before its second");
  }
  await soon(list, { ms: 1500, what: "it is late" }, () => seen(list, isLate));
  await seen(
    one,
    `/late/.test(${text("facts")}) && /expected 09:00, next by/.test(${text("facts")})`,
  );
  const { topics } = box.tenant.changes.after(next);
  assert.ok(!topics.includes("heartbeats"), `nothing was told: ${topics}`);
  assert.ok(asked <= 3, `${asked} requests`);
  await calm(list, "a late heartbeat in the list");
  await calm(one, "a late heartbeat");
};

/** `[` and `]` go through the list that an alert was opened from, in its order and by its filter. */
const neighboursByKeys: Step = async ({ box, visit, calm }) => {
  const fire = await scene(box);
  await fire("a", "b", "c", "d");
  await box.api("POST", "/v1/alerts/3/ack", {});
  const tab = await visit("/alerts");
  const { page } = tab;
  for (const key of ["j", "j"]) await page.keyboard.press(key);
  await Promise.all([page.waitForURL(/\/a\/2$/), page.keyboard.press("Enter")]);
  assert.equal((await page.textContent("#neighbours"))?.trim(), "‹2 of 3›");
  await calm(tab, "an alert with its neighbours");
  await Promise.all([page.waitForURL(/\/a\/1$/), page.keyboard.press("]")]);
  assert.equal(await page.locator("#neighbours [data-key=']']").count(), 0);
  await Promise.all([page.waitForURL(/\/a\/2$/), page.keyboard.press("[")]);
  await Promise.all([page.waitForURL(/\/a\/4$/), page.keyboard.press("[")]);
  await page.goto(`${box.url}/a/3`);
  assert.equal((await page.textContent("#neighbours"))?.trim(), "", "it isn't in that list");
};

/** AC-V3: both are made by plain forms. */
const withoutScript: Step = async ({ box, visit }) => {
  const fire = await scene(box);
  await fire("acme");
  const tab = await visit("/silences/new?alert=1", { options: { javaScriptEnabled: false } });
  const { page } = tab;
  const press = (button: string) =>
    Promise.all([page.waitForNavigation(), page.click(`button:text-is("${button}")`)]);
  await press("Show what it would do");
  assert.match((await page.textContent("#would")) ?? "", /silences 1 open alert/);
  await page.fill("[name=reason]", "deploy");
  await press("Silence");
  assert.equal((await silences(box)).length, 1);
  await page.goto(`${box.url}/heartbeats/new`);
  await page.fill("[name=name]", "nightly backup");
  await press("Create heartbeat");
  const address = (await page.textContent("#ping-address")) ?? "";
  assert.equal((await fetch(address)).status, 200);
  await page.reload();
  assert.match((await page.textContent("#first")) ?? "", /has reported/);
};

const STEPS: Record<string, Step> = {
  silencedByKeys,
  menusFitPhone,
  previewFollows,
  firstPingIsGreen,
  lateAtItsSecond,
  neighboursByKeys,
  withoutScript,
};

export async function quietHolds(browser: Browser): Promise<void> {
  for (const [name, step] of Object.entries(STEPS)) {
    await onStage(browser, step).catch((error) => {
      throw new Error(`quiet, ${name}: ${error.message}`, { cause: error });
    });
    console.log(`  ok quiet ${name}`);
  }
}
