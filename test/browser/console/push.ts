/**
 * Pushes in a browser: what the box sends to a push service is opened with the browser's key and handed to its service worker,
 * as the service would.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, CDPSession, Worker } from "playwright-core";
import { browser } from "../../../src/app/prove/browser.ts";
import type { PushPayload } from "../../../src/out/services/web-push/payload.ts";
import { freePort } from "../../support/free-port.ts";
import { type Phone, pushStory } from "../../support/push-story.ts";
import { pass, until, untilSo } from "../../support/until.ts";
import type { Tab } from "../tab.ts";
import { governed } from "./pocket.ts";
import { onStage, type Stage, seen } from "./stage.ts";

/** A browser's side of a push service. */
interface Pushed {
  deliver(notification: PushPayload["notification"]): Promise<unknown>;
  /** What stands on the screen, by its tag. */
  shown(tag: string): Promise<Shown>;
  /** Waits until this stands there. */
  shows(tag: string, title: RegExp, body?: RegExp): Promise<Shown>;
  /** Presses a button of it; "" is the notification itself. Waits until the worker is done. */
  press(tag: string, action: string): Promise<void>;
  /** The browser believes that there is a network again. */
  sync(): Promise<unknown>;
  worker: Worker;
}

interface Shown {
  title: string;
  body: string;
  silent: boolean;
  requireInteraction: boolean;
  actions: string[];
}

async function pushedIn(tab: Tab, origin: string): Promise<Pushed> {
  const context = tab.page.context();
  await context.grantPermissions(["notifications"], { origin });
  const debug: CDPSession = await context.newCDPSession(tab.page);
  const known = new Promise<string>((resolve) =>
    debug.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => {
      if (first) resolve(first.registrationId);
    }),
  );
  await debug.send("ServiceWorker.enable");
  const registrationId = await known;
  const worker = context.serviceWorkers().at(-1);
  assert.ok(worker);
  const shown = (tag: string) =>
    worker.evaluate(
      `registration.getNotifications({ tag: ${JSON.stringify(tag)} }).then(([one]) => ({
        title: one?.title ?? "", body: one?.body ?? "", silent: one?.silent ?? false,
        requireInteraction: one?.requireInteraction ?? false, actions: (one?.actions ?? []).map(({ title }) => title),
      }))`,
    ) as Promise<Shown>;
  await worker.evaluate(
    `self.pushesCame = 0; addEventListener("push", () => { pushesCame += 1; });`,
  );
  const came = () => worker.evaluate("pushesCame") as Promise<number>;
  return {
    worker,
    shown,
    async deliver(notification) {
      const before = await came();
      // On a busy machine DevTools loses one now and then, which a push service would send again.
      for (let sent = 0; sent < 5 && (await came()) === before; sent += 1) {
        await debug.send("ServiceWorker.deliverPushMessage", {
          origin,
          registrationId,
          data: JSON.stringify({ web_push: 8030, notification }),
        });
        for (let look = 0; look < 100 && (await came()) === before; look += 1)
          await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.ok((await came()) > before, `the worker got no push of ${notification.tag}`);
    },
    async shows(tag, title, body = /(?:)/) {
      let last: Shown | undefined;
      for (let tries = 0; tries < 200; tries += 1) {
        last = await shown(tag);
        if (title.test(last.title) && body.test(last.body)) return last;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`not shown: ${title} ${body}; but ${JSON.stringify(last)}`);
    },
    // An event that a script makes can't hold the worker awake: what it would wait for is waited for here.
    press: (tag, action) =>
      worker.evaluate(`registration.getNotifications({ tag: ${JSON.stringify(tag)} }).then(([notification]) => {
        const event = new NotificationEvent("notificationclick", { notification, action: ${JSON.stringify(action)} });
        let work = null;
        Object.defineProperty(event, "waitUntil", { value: (promise) => { work = promise; } });
        dispatchEvent(event);
        return work;
      })`),
    sync: () =>
      debug.send("ServiceWorker.dispatchSyncEvent", {
        origin,
        registrationId,
        tag: "held",
        lastChance: false,
      }),
  };
}

type Story = Awaited<ReturnType<typeof pushStory>>;
interface Scene extends Stage {
  story: Story;
  phone: Phone;
  tab: Tab;
  pushed: Pushed;
}

const stateOf = ({ box }: Story, id: string) =>
  box.tenant.store.sql("SELECT state FROM alerts WHERE id = ?").pluck().get(id);
const acksOf = async (story: Story, id: string) =>
  (await story.timeline(id)).filter(({ kind }) => kind === "acknowledged").length;

/** Opens an alert; its page as the phone was pushed it, once what was sent before is out of the way. */
async function paged({ story, phone }: Scene, n: number) {
  await pass(story.box, 6);
  const id = await story.fire(n);
  await pass(story.box, 6);
  const page = phone.pushed().findLast(({ data }) => data.alert === id && data.kind === "page");
  assert.ok(page, `alert ${id} was not pushed`);
  return { id, page };
}

/** A browser without Google's servers: what it would be given by its push service, and half a minute that is over when the story says so. */
const givenBy = (subscription: object) => `
PushManager.prototype.getSubscription = async () => null;
PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
  if (!userVisibleOnly || typeof applicationServerKey !== "string") throw new TypeError("not ours");
  return { toJSON: () => (${JSON.stringify(subscription)}) };
};
window.halfMinutes = [];
{ const later = setTimeout; window.setTimeout = (act, ms, ...rest) => ms === 30_000 ? halfMinutes.push(act) : later(act, ms, ...rest); }`;

/** *My devices*: added by a click, rung, and what it showed is told; where nothing is shown the page walks the chain. */
async function addsBrowser({ story, visit, calm, run }: Scene): Promise<void> {
  const { box, ann, receiver, service } = story;
  const own = browser();
  const endpoint = `${receiver.url}/push/canary-page`;
  const tab = await visit("/me/devices", { person: ann });
  await tab.page.addInitScript(givenBy(own.subscription(endpoint)));
  await governed(tab);
  const pushed = await pushedIn(tab, box.url);
  await tab.page.click("#add-browser button");
  await seen(tab, `/This browser is added/.test(document.querySelector("#browsers").textContent)`);
  const list = () => story.subscriptions(ann);
  const added = (await list()).find(({ label }: { label: string }) => label === "Linux · Chrome");
  assert.deepEqual(added.wants, ["pages", "shift"]);
  const row = `#device-${added.id}`;
  assert.match((await tab.page.textContent(row)) ?? "", /never confirmed: ring it/);
  await calm(tab, "my devices");

  const ring = async () => {
    const before = service.taken.length;
    await tab.page.click(`${row} button:text("Ring it")`);
    await until(() => service.taken.length > before, "it is rung");
    const { bytes = Buffer.alloc(0) } = service.taken.at(-1) ?? {};
    return JSON.parse(own.open(bytes)).notification as PushPayload["notification"];
  };
  const stop = run();
  const test = await ring();
  await pushed.deliver(test);
  await pushed.shows("test", new RegExp(test.title));
  await seen(
    tab,
    `/shown/.test(document.querySelector("${row}").textContent) && document.querySelector("${row}").dataset.shown !== "0"`,
  );
  await seen(tab, `document.querySelector("${row} [aria-busy]") === null`);
  const over = "halfMinutes.splice(0).map((act) => act()).length";
  assert.equal(await tab.run(over), 1);
  assert.equal(await tab.run(`document.querySelector("#chain-${added.id}").open`), false);
  await stop();
  await pass(box, 6);
  await ring();
  assert.equal(await tab.run(over), 1);
  await seen(tab, `document.querySelector("#chain-${added.id}").open`);
  assert.match(
    (await tab.page.textContent(`#chain-${added.id}`)) ?? "",
    /in this browser notifications are allowed/,
  );
  // The box's own answer to the form closes nothing, and what it is pushed can be changed.
  await tab.page.click(`#wants-${added.id} > summary`);
  await tab.page.selectOption(`#wants-${added.id} select`, "place");
  await tab.page.click(`#wants-${added.id} button`);
  await seen(
    tab,
    `/lock screen shows only where/.test(document.querySelector("${row}").textContent)`,
  );

  // Its push service gives it another while the box isn't there: that is said, and the box has it once it is back.
  const fresh = browser().subscription(`${receiver.url}/push/canary-renewed`);
  await box.restart(async () => {
    await pushed.worker.evaluate(`{
      const event = new ExtendableEvent("pushsubscriptionchange");
      let work = null;
      Object.defineProperties(event, {
        newSubscription: { value: { toJSON: () => (${JSON.stringify(fresh)}) } },
        waitUntil: { value: (promise) => { work = promise; } },
      });
      dispatchEvent(event);
      work;
    }`);
    await pushed.shows("device", /isn’t rung any more/);
  });
  await pushed.worker.evaluate(
    "{ const now = performance.now.bind(performance); performance.now = () => now() + 60_000; }",
  );
  await pushed.sync();
  const isRenewed = async () =>
    (await list()).some(
      ({ id, label }: Record<string, string>) => label !== "pixel" && id !== added.id,
    );
  await untilSo(isRenewed, "the subscription is renewed");
  const renewed = (await list()).filter(({ label }: { label: string }) => label !== "pixel");
  assert.deepEqual(
    renewed.map(({ id, lock_screen }: Record<string, string>) => [id === added.id, lock_screen]),
    [[false, "place"]],
  );

  // It goes with the session.
  await tab.page.goto(`${box.url}/signout`);
  await Promise.all([tab.page.waitForURL("**/signin"), tab.page.click("main button")]);
  assert.deepEqual(
    (await list()).map(({ label }: { label: string }) => label),
    ["pixel"],
  );
  await tab.close();
}

/** A box that was restored from an older backup knows nothing of it: who is rung by it is told. */
async function saysThatItIsUnknown({ story, tab, pushed, phone }: Scene): Promise<void> {
  const { box } = story;
  const be = (id: string) =>
    pushed.worker.evaluate(
      `caches.open("records").then((all) => all.put("/-/device", new Response(JSON.stringify({ id: "${id}" }))))`,
    );
  await be(phone.id);
  await tab.run(`caches.delete("pages")`);
  await tab.page.goto(`${box.url}/alerts`);
  await seen(tab, `caches.open("pages").then(async (all) => (await all.keys()).length > 0)`);
  assert.equal((await pushed.shown("device")).title, "", "it is known");
  await be("0123456789abcdef");
  await tab.page.goto(`${box.url}/oncall`);
  await pushed.shows("device", /isn’t rung any more/, /has no such device/);
}

/** AC-23.2: the session is gone, and the button counts all the same. */
async function takesWithoutSession(scene: Scene): Promise<void> {
  const { story, phone, pushed, tab } = scene;
  const { box, ann } = story;
  box.tenant.store.sql("DELETE FROM sessions").run();
  const { id, page } = await paged(scene, 1);
  await pushed.deliver(page);
  const shown = await pushed.shows(
    page.tag,
    /^CRITICAL payments/,
    /You.re first, bob@example\.org \d\d:\d\d/,
  );
  assert.deepEqual([shown.silent, shown.requireInteraction], [false, true]);
  assert.deepEqual(shown.actions, ["Acknowledge", "Open"]);
  const isSeen = async () => (await story.timeline(id)).some(({ kind }) => kind === "shown");
  await untilSo(isSeen, "the receipt came");
  await pushed.press(page.tag, "ack");
  const done = await pushed.shows(page.tag, /^You have it\. Ladder stopped \d\d:\d\d:\d\d$/);
  assert.deepEqual([done.silent, done.actions], [true, []]);
  assert.equal(stateOf(story, id), "acknowledged");
  const acked = (await story.timeline(id)).find(({ kind }) => kind === "acknowledged");
  assert.equal(acked?.account_id, ann.accountId);

  await pass(box, 6);
  const note = phone.shown();
  assert.equal(note.data.kind, "note");
  await pushed.deliver(note);
  assert.equal((await pushed.shows(note.tag, /^ann@example\.org has it/)).silent, true);
  // The open page learns of it, too, and what was kept for the session goes: now, and not under a later step.
  await seen(tab, `/signed out/.test(document.querySelector("#bar").textContent)`);
  await seen(tab, `caches.has("pages").then((has) => !has)`);
}

/** AC-23.3: the box is stopped while the button is pressed. */
async function saysNotAcknowledged(scene: Scene): Promise<void> {
  const { story, pushed } = scene;
  const { box } = story;
  const { id, page } = await paged(scene, 2);
  await pushed.deliver(page);
  await pushed.shows(page.tag, /^CRITICAL/);
  await box.restart(async () => {
    await pushed.press(page.tag, "ack");
    const shown = await pushed.shows(page.tag, /^Not acknowledged$/, /bob@example\.org/);
    assert.match(
      shown.body,
      /^Not acknowledged: the box can’t be reached\. bob@example\.org (?:is|was to be) paged at .*\d\d:\d\d\./,
    );
    assert.deepEqual(shown.actions, ["Try again", "Open"]);
    await pushed.sync();
    assert.match((await pushed.shown(page.tag)).title, /^Not acknowledged$/);
  });
  assert.equal(stateOf(story, id), "open");
  await pushed.sync();
  await pushed.shows(page.tag, /^You have it/);
  await pushed.sync();
  assert.deepEqual([stateOf(story, id), await acksOf(story, id)], ["acknowledged", 1]);

  // Too late is not at all, and that is said.
  const { id: other, page: late } = await paged(scene, 3);
  await pushed.deliver(late);
  await pushed.shows(late.tag, /^CRITICAL/);
  await box.restart(async () => {
    await pushed.press(late.tag, "ack");
    await pushed.shows(late.tag, /^Not acknowledged$/);
  });
  const turn = (minutes: number) =>
    pushed.worker.evaluate(
      `{ const now = Date.now; Date.now = () => now() + ${minutes * 60_000}; }`,
    );
  await turn(15);
  await pushed.sync();
  const given = await pushed.shows(late.tag, /^Not acknowledged$/, /given up after 15 minutes/);
  assert.match(given.body, /bob@example\.org/);
  await pushed.sync();
  assert.equal(stateOf(story, other), "open");
  // Whoever still wants it presses again.
  await pushed.press(late.tag, "ack");
  await pushed.shows(late.tag, /^You have it/);
  assert.equal(stateOf(story, other), "acknowledged");
  await turn(-15);
}

/** An alert that was pushed and never opened has a page without the box; a tap opens the alert. */
async function opensPushed(scene: Scene): Promise<void> {
  const { story, pushed, visit } = scene;
  const { box, ann } = story;
  const { id, page } = await paged(scene, 4);
  await pushed.deliver(page);
  await pushed.shows(page.tag, /^CRITICAL/);
  // It is kept after it is shown.
  const kept = `caches.open("records").then(async (all) => (await all.keys()).some(({ url }) => decodeURIComponent(url).endsWith("told/${id}")))`;
  await untilSo(() => pushed.worker.evaluate(kept), "what was pushed is kept");
  // Another page notices only now that the session is over, which the worker knows: what came since stays.
  await pushed.worker.evaluate(`{
    const event = new ExtendableMessageEvent("message", { data: "signed-out" });
    let work = null;
    Object.defineProperty(event, "waitUntil", { value: (promise) => { work = promise; } });
    dispatchEvent(event);
    work;
  }`);
  assert.equal(await pushed.worker.evaluate(kept), true, "what was pushed is kept");
  const { page: view } = scene.tab;
  await view.context().setOffline(true);
  await view.goto(`${box.url}/a/${id}`);
  const text = (await view.textContent("main")) ?? "";
  assert.match(text, /no payment goes through/);
  assert.match(text, /Rung 1 of 2, then bob@example\.org at .*\d\d:\d\d, if nothing changed\./);
  await view.context().setOffline(false);

  const tab = await visit(`/a/${id}?from=push`, {
    person: ann,
    options: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  });
  assert.equal(await tab.run("document.activeElement.textContent"), "Acknowledge");
  const place = await tab.page.locator("#actions button").first().boundingBox();
  assert.ok(place !== null && place.y > (740 * 2) / 3 && place.height >= 44);
  await tab.page.keyboard.press("Enter");
  await seen(tab, `/has it/.test(document.querySelector("#head .state").textContent)`);
}

const STEPS = {
  addsBrowser,
  saysThatItIsUnknown,
  takesWithoutSession,
  saysNotAcknowledged,
  opensPushed,
};

export async function pushHolds(browser: Browser): Promise<void> {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.unshift(end) } as unknown as TestContext;
  try {
    const story = await pushStory(t, { listen: `127.0.0.1:${await freePort()}` });
    const { box, ann, bob, step } = story;
    await story.rule([step(ann), step(bob, 15)]);
    const phone = await story.subscribe(ann, "pixel", { timezone: "UTC" });
    await onStage(
      browser,
      async (stage) => {
        const tab = await stage.visit("/alerts", { person: ann });
        await governed(tab);
        const scene = { ...stage, story, phone, tab, pushed: await pushedIn(tab, box.url) };
        for (const [name, one] of Object.entries(STEPS)) {
          await one(scene).catch((error) => {
            throw new Error(`push, ${name}: ${error.message}`, { cause: error });
          });
          console.log(`  ok push ${name}`);
        }
      },
      box.clock,
      box,
    );
  } finally {
    for (const end of ends) await end();
  }
}
