/** The journeys of docs/performance.md, taken by hand in a browser: each counts what was pressed and typed, and may not take more. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { openNtfy, pressNtfy } from "../../support/ntfy.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settle, until } from "../../support/until.ts";
import type { Tab } from "../tab.ts";
import { onStage, type Stage, seen } from "./stage.ts";

const DAY = 86_400;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
const SCHEDULES = "/v1/projects/shop/oncall/schedules";

/** What a hand does on a page: each is one action. */
class Hand {
  count = 0;
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  async press(selector: string): Promise<void> {
    this.count += 1;
    await this.#tab.page.click(selector);
  }

  async type(selector: string, text: string): Promise<void> {
    this.count += 1;
    await this.#tab.page.fill(selector, text);
  }
}

interface Journey {
  /** Actions at the most. */
  most: number;
  /** What was done is checked by what the box holds then; how many actions it took. */
  take(stage: Stage): Promise<number>;
}

const said = (words: string) =>
  `document.querySelector("#said")?.textContent.includes(${JSON.stringify(words)})`;

/** An open alert, looked at on a phone. */
const silenceTwoHours: Journey = {
  most: 3,
  async take({ box, run, visit }) {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
    await box.ingest(token, { message: "payment 4711 failed", level: 400 });
    await settle(box);
    run();
    const tab = await visit("/a/1", { options: PHONE });
    const hand = new Hand(tab);
    await hand.press("[popovertarget=more]");
    await hand.press("#silence > summary");
    await hand.press("#silence button:text-is('2 hours')");
    await seen(tab, `document.querySelector("#quiet") !== null`);
    const [{ starts_at, ends_at }, ...others] = (await box.api("GET", "/v1/silences")).body
      .silences;
    assert.deepEqual([ends_at - starts_at, others], [7200, []]);
    return hand.count;
  },
};

/** Seven people and no schedule: five of them take turns. */
const weeklyRotaForFive: Journey = {
  most: 5,
  async take({ box, run, visit }) {
    await box.project("shop");
    for (const name of ["ann", "bob", "cy", "dee", "eve", "boss"])
      box.person("member", `${name}@example.org`);
    run();
    const tab = await visit("/alerts");
    const hand = new Hand(tab);
    await hand.press(".nav a[href='/oncall']");
    for (const name of ["boss", "owner"]) await hand.press(`label:has-text("${name}@example.org")`);
    await hand.press("button:text-is('Make a weekly schedule')");
    await seen(tab, said("Made shop / primary"));
    const from = Math.floor(box.clock.now() / 1000);
    const range = `from=${from}&until=${from + 35 * DAY}`;
    const { shifts } = (await box.api("GET", `${SCHEDULES}/primary/preview?${range}`)).body;
    const who = new Set(shifts.map(({ account_id }: { account_id: string }) => account_id));
    assert.equal(who.size, 5);
    return hand.count;
  },
};

/** One's own next shift, seen on the page of who is on call; the colleagues are asked. */
const shiftOffered: Journey = {
  most: 4,
  async take({ box, run, visit }) {
    await box.project("shop");
    const bob = box.person("member", "bob@example.org");
    const now = Math.floor(box.clock.now() / 1000);
    const layer = {
      name: "daily",
      participants: [bob.accountId, box.owner.accountId],
      rotation_start: now - 3600,
      shift_minutes: 1440,
    };
    const body = { name: "primary", timezone: "UTC", layers: [layer] };
    assert.equal((await box.api("POST", SCHEDULES, body)).status, 201);
    run();
    const tab = await visit("/oncall");
    const hand = new Hand(tab);
    await hand.press(`#week a[data-from="${now - 3600 + DAY}"]`);
    await hand.press("#swap a:text-is('Ask for cover…')");
    await hand.press("#ask button:text-is('Ask them')");
    await seen(tab, said("Asked."));
    const asks = box.tenant.store.sql("SELECT count(*) FROM asks").pluck().get();
    assert.equal(asks, 1);
    return hand.count;
  },
};

/** A project's page, and the address that Slack gave. */
const slackWithTest: Journey = {
  most: 4,
  async take({ box, visit }) {
    const slack = await startReceiver();
    slack.always((response) => response.end("ok"));
    await box.project("shop");
    const tab = await visit("/p/shop");
    const hand = new Hand(tab);
    await hand.press(".tabs a:text-is('Channels')");
    await hand.press("#add a:text-is('Slack')");
    await hand.type("[name=webhook_url]", `${slack.url}/services/T0/B0/x`);
    await hand.press("button:text-is('Test, then add')");
    await seen(tab, said("It got through"));
    assert.equal(slack.received.length, 1);
    const { integrations } = (await box.api("GET", "/v1/projects/shop/integrations")).body;
    assert.deepEqual(
      integrations.map(({ type }: { type: string }) => type),
      ["slack"],
    );
    await slack.close();
    return hand.count;
  },
};

/** A page on a phone whose screen is locked: the notification has the button. */
const acknowledgeLocked: Journey = {
  most: 1,
  async take({ box, run }) {
    const receiver = await startReceiver();
    const phone = openNtfy();
    receiver.always(phone.behaviour);
    await box.api("PUT", "/v1/gateways/ntfy", { url: receiver.url });
    const contacts = `/v1/accounts/${box.owner.accountId}/contacts`;
    const contact = { kind: "ntfy", label: "phone", address: "box-a-long-and-secret-topic" };
    const { id } = (await box.api("POST", contacts, contact)).body;
    await box.api("POST", `${contacts}/${id}/verify`);
    run();
    const topic = contact.address;
    await until(() => phone.on(topic).length > 0, "a code comes");
    const code = /\d{3} ?\d{3}/.exec(JSON.stringify(phone.on(topic).at(-1)))?.[0] ?? "";
    await box.api("POST", `${contacts}/${id}/verify`, { code: code.replace(" ", "") });
    const token = await box.project("shop");
    const step = { accounts: [box.owner.accountId], schedules: [], after_minutes: 0 };
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations: [step] });
    await box.ingest(token, { message: "payment 4711 failed", level: 400 });
    const asks = () => phone.on(topic).find(({ actions = [] }) => actions.length > 0);
    await until(() => asks() !== undefined, "a page with a button");
    const paged = asks();
    assert.ok(paged);
    await pressNtfy(paged, "Acknowledge");
    const state = box.tenant.store.sql("SELECT state FROM alerts").pluck();
    await until(() => state.get() === "acknowledged", "the alert is acknowledged");
    await receiver.close();
    return 1;
  },
};

const JOURNEYS: Readonly<Record<string, Journey>> = {
  silenceTwoHours,
  weeklyRotaForFive,
  shiftOffered,
  slackWithTest,
  acknowledgeLocked,
};

export async function journeysHold(browser: Browser): Promise<void> {
  for (const [name, { most, take }] of Object.entries(JOURNEYS)) {
    await onStage(browser, async (stage) => {
      const count = await take(stage);
      assert.ok(count <= most, `${name}: ${count} actions, ${most} at the most`);
      console.log(`  ok journey ${name}: ${count} of ${most} actions`);
    });
  }
}
