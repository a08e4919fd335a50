/** From an empty box to a page that was answered, by somebody who has read nothing: by keyboard alone. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { issueCode, pairLink } from "../../../src/people/codes.ts";
import { openNtfy, pressNtfy } from "../../support/ntfy.ts";
import { startReceiver } from "../../support/receiver.ts";
import { open } from "../tab.ts";
import { onStage, seen, soon, unrest } from "./stage.ts";

/** Keys pressed and texts typed, the opening of the link among them. */
const MOST_ACTIONS = 20;

export async function newcomerHolds(browser: Browser): Promise<void> {
  const receiver = await startReceiver();
  const phone = openNtfy();
  receiver.always(phone.behaviour);
  await onStage(browser, async ({ box, run }) => {
    await box.api("PUT", "/v1/gateways/ntfy", { url: receiver.url });
    box.tenant.store.db.exec("DELETE FROM api_keys; DELETE FROM accounts");
    const link = box.tenant.store.write((tx) =>
      pairLink(
        tx,
        box.url,
        issueCode(tx, null, { role: "owner", email: null, ttlSeconds: 3600 }).code,
      ),
    );
    run();
    const tab = await open(browser);
    const { page } = tab;
    await page.context().route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
    let actions = 1;
    const press = async (key: string) => {
      actions++;
      await page.keyboard.press(key);
    };
    const type = async (text: string) => {
      actions++;
      await page.keyboard.type(text);
    };
    /** Tab until this is focused. */
    const reach = async (selector: string) => {
      for (let n = 0; n < 30; n++) {
        if (await tab.run(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
        await press("Tab");
      }
      throw new Error(`${selector} can't be reached`);
    };
    await page.goto(link);
    await type("ann@example.org");
    await press("Tab");
    await type("correct horse");
    await Promise.all([page.waitForURL("**/welcome"), press("Enter")]);
    assert.ok(!page.url().includes("code="), page.url());
    await reach("form[action='/welcome/phone'] button");
    await press("Enter");
    await seen(tab, "document.querySelector('#topic')");
    const topic = (await page.textContent("#topic")) ?? "";
    const code = /\d{3} ?\d{3}/.exec(JSON.stringify(phone.on(topic).at(-1)))?.[0] ?? "";
    await reach("[name=code]");
    await type(code.replace(" ", ""));
    await press("Enter");
    await seen(tab, "/rings for you/.test(document.querySelector('#phone').textContent)");
    await reach("form[action='/welcome/start'] button");
    await press("Enter");
    await seen(tab, "document.querySelector('#curl')");
    const token = /pti_\w+/.exec((await page.textContent("#curl")) ?? "")?.[0] ?? "";
    const event = { message: "payment 4711 failed after 30 s", level: 400 };
    actions++;
    const taken = await box.ingest(token, event);
    assert.equal(taken.status, 202, JSON.stringify(taken.body));
    const heard = await soon(tab, { ms: 1000, what: "the event is heard" }, () =>
      seen(tab, "/✓/.test(document.querySelector('#heard').textContent)"),
    );
    await seen(tab, "/accepted your page/.test(document.querySelector('#paged').textContent)");
    const paged = phone.on(topic).at(-1);
    assert.ok(paged);
    actions++;
    await pressNtfy(paged, "Acknowledge");
    await seen(tab, "/you have it/.test(document.querySelector('#paged').textContent)", 15_000);
    assert.ok(actions <= MOST_ACTIONS, `${actions} actions`);
    console.log(`   a newcomer: ${actions} actions, heard after ${Math.round(heard)} ms`);
    assert.deepEqual(await unrest(tab, box.url), []);
    await tab.close();
  });
  await receiver.close();
}
