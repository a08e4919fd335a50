/** The page behind a message's link, on a real box: what happened, and one button to have it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { capabilityOf } from "../../src/out/paging/capability.ts";
import { messageName } from "../../src/out/paging/message-name.ts";
import { XSS_VECTORS } from "../fixtures/xss.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { reachBy } from "../support/contacts.ts";
import { startReceiver } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";
import { isCalmByDayAndNight, open, withoutStatus } from "./tab.ts";

const LOOKS: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 320, height: 640 } },
  desk: { viewport: { width: 1100, height: 900 } },
};

/** Opens an alert for each message: the first is told of alone, the others together. */
async function paged(box: TestBox, token: string, messages: readonly string[]): Promise<number[]> {
  // What was sent before is no longer in the way.
  await pass(box, 6);
  const ids: number[] = [];
  for (const message of messages) {
    await box.ingest(token, { message, level: 500, keys: { n: `${Math.random()}` } });
    ids.push(Number(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get()));
    await settle(box);
  }
  await pass(box, 6);
  return ids;
}

/** The message that names this alert first. */
const MESSAGE = `SELECT id FROM pages WHERE alert_id = ? AND event = 'alert.escalated'
  UNION SELECT id FROM pages WHERE sent_with IN (SELECT id FROM pages WHERE alert_id = ?) ORDER BY id`;

async function press(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  const box = await button.boundingBox();
  assert.ok(box !== null && box.height >= 44, `${name} is ${box?.height} px high`);
  await Promise.all([page.waitForNavigation(), button.click()]);
}

export async function answeringHolds(browser: Browser, pictures: string): Promise<void> {
  const receiver = await startReceiver();
  const box = await testBox();
  try {
    const token = await box.project("shop");
    const contact = await reachBy(box, box.owner, receiver);
    const { accountId } = box.owner;
    const step = { after_minutes: 0, accounts: [accountId], schedules: [], repeat_minutes: 0 };
    const rule = { name: "errors", identifier_keys: ["n"], escalations: [step] };
    await box.api("POST", "/v1/projects/shop/rules", rule);
    const link = (alertId = 0) => {
      const { sealer, id: tenantId, clock, store } = box.tenant;
      const until = Math.floor(clock.now() / 1000) + 3600;
      const rows = store.sql<[number, number], { id: number }>(MESSAGE).all(alertId, alertId);
      const message = messageName(rows as [{ id: number }]);
      const right = { tenantId, alertId, accountId, contactId: contact, until, message };
      return `${box.url}/ack/${capabilityOf(sealer, right)}`;
    };
    for (const [name, options] of Object.entries(LOOKS)) {
      const tab = await open(browser, options);
      const { page } = tab;
      const calm = (what: string) =>
        isCalmByDayAndNight(tab, join(pictures, `ack-${what}-${name}`));
      const [alone] = await paged(box, token, [`disk is full\n${"x".repeat(300)}`]);
      await page.goto(link(alone));
      await calm("open");
      const place = await page.locator(".huge").boundingBox();
      assert.ok(place !== null && place.height >= 72, "as large as a thumb");
      const { height } = page.viewportSize() ?? { height: 0 };
      if (name.startsWith("phone"))
        assert.ok(place.y > height / 2 && place.y + place.height < height, `at ${place.y} px`);
      await press(page, "Acknowledge");
      assert.equal(page.url(), link(alone));
      assert.match(
        (await page.textContent("[role=status]")) ?? "",
        /by owner@example\.org, just now/,
      );
      await calm("taken");
      await box.clock.turn(3000);
      // AC-L1: where it was pressed nothing is left to press.
      assert.match((await page.textContent(".spot > span")) ?? "", /You have it/);
      await press(page, "Resolve");
      assert.equal(await page.getByRole("button").count(), 0);
      await calm("over");

      const [, first] = await paged(box, token, ["one", ...XSS_VECTORS.slice(0, 20)]);
      await page.goto(link(first));
      assert.equal(await page.getByRole("listitem").count(), 20);
      await calm("several");
      await press(page, `Resolve alert ${first}`);
      await press(page, "Acknowledge all that are open (19)");
      assert.equal(await page.getByRole("button", { name: /^Acknowledge/ }).count(), 0);
      await calm("all-taken");
      assert.equal((await page.goto(`${box.url}/ack/nobodys`))?.status(), 404);
      await calm("nothing");
      assert.deepEqual(withoutStatus(tab.noise), []);
      await tab.close();
    }
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const [plain] = await paged(box, token, ["without script"]);
    await page.goto(link(plain));
    await press(page, "Acknowledge");
    assert.match((await page.textContent("[role=status]")) ?? "", /is acknowledged by/);
    await context.close();
  } finally {
    await box.stop();
    await receiver.close();
  }
}
