/** Reports: what is written is shown as readers will see it, nothing of it runs, and nothing of it is lost. */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { endOthers } from "../../../src/people/sessions.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { signedIn } from "../../support/console.ts";
import { untilSo } from "../../support/until.ts";
import type { Tab } from "../tab.ts";
import { onStage, type Stage, seen } from "./stage.ts";

type Step = (stage: Stage) => Promise<void>;

const TEXT = "#entry-text";

/** A report about an alert, and the address of its editor. */
async function begun({ box }: Stage): Promise<string> {
  const made = { title: "Card payments are slow", alert_id: "1" };
  const { status, body } = await box.api("POST", "/v1/projects/shop/reports", made);
  assert.equal(status, 201, JSON.stringify(body));
  return `/p/shop/reports/${body.id}`;
}

/** The frame's document as it is. No script runs there, so that nothing waits there either. */
async function frameHtml(page: Page): Promise<string> {
  // While the next one loads there are two; what is shown may have frames of its own.
  const frame = page.mainFrame().childFrames().at(-1);
  return frame === undefined ? "" : frame.content().catch(() => "");
}

/** Waits until the frame shows it. */
async function framed(page: Page, text: string): Promise<void> {
  await untilSo(async () => (await frameHtml(page)).includes(text), `in the frame: ${text}`);
}

/** The newest entry, without what tells one from another. */
const articleIn = (html: string) =>
  (/<article[\s\S]*?<\/article>/.exec(html)?.[0] ?? "").replace(/ id="entry-\w+"/, "");

/** AC-19.1: what the frame shows is what the public page shows then. */
const showsBefore: Step = async (stage) => {
  const { visit, calm } = stage;
  const path = await begun(stage);
  const tab = await visit(path, { options: { viewport: { width: 1280, height: 900 } } });
  const { page } = tab;
  await framed(page, "The first update is still to come");
  const entries = Number(await tab.run("history.length"));
  await page.locator(TEXT).pressSequentially("A provider is slow.");
  await page.selectOption("#entry-type", "analysis");
  await framed(page, "A provider is slow.");
  await framed(page, "Investigating");
  assert.match((await page.textContent("#effect")) ?? "", /Reported → Investigating · “A provider/);
  assert.match((await page.textContent("#entry-count")) ?? "", /^19 of 65,536$/);
  await page.locator(TEXT).press("ControlOrMeta+a");
  await page.locator(TEXT).press("Control+b");
  assert.equal(await page.inputValue(TEXT), "**A provider is slow.**");
  await page.locator(TEXT).press("Control+b");
  assert.equal(await page.inputValue(TEXT), "A provider is slow.");
  await page.locator(TEXT).press("End");
  await page.click("[data-md=table]");
  await framed(page, "Payments");
  // Neither does a preview add to where Back goes.
  assert.equal(Number(await tab.run("history.length")), entries);
  await calm(tab, "a report's editor");
  const before = articleIn(await frameHtml(page));
  await page.locator(TEXT).press("Control+Enter");
  await seen(
    tab,
    // With the focus on it what is said stays, however long the machine takes.
    `/Published: readers see Investigating/.test(document.getElementById("said").textContent) && !document.querySelector("#said button").focus()`,
  );
  await seen(tab, `document.querySelector("${TEXT}").value === ""`);
  const uuid = /reports\/([0-9a-f-]{36})/.exec((await page.textContent("#address")) ?? "")?.[1];
  const other = await visit(`/public/reports/${uuid}`);
  assert.equal(before, articleIn(await other.page.content()));
  // Taken back, the text stands there again.
  await page.click("#said button");
  await seen(tab, `document.querySelector("${TEXT}").value.startsWith("A provider is slow.")`);
  await other.page.reload();
  assert.equal(await other.page.locator("article").count(), 0);
};

/** The box's own draft is put in, and its line that is still to be written is named until it is. */
const factsAreTouched: Step = async (stage) => {
  const tab = await stage.visit(await begun(stage));
  const { page } = tab;
  await page.click("#insert-facts");
  assert.match(await page.inputValue(TEXT), /The problem was detected automatically/);
  assert.equal(await page.inputValue("[name=title]"), "What has happened so far");
  assert.equal(await page.locator("#marks li").textContent(), "What we know so far: …");
  const text = (await page.inputValue(TEXT)).replace("so far: …", "so far: a disk.");
  await page.fill(TEXT, text);
  assert.equal(await page.locator("#marks").isVisible(), false);
  await framed(page, "so far: a disk.");
};

/** AC-19.2: a crash, the end of the session, signing out; afterwards it is gone only when it is published. */
const nothingIsLost: Step = async (stage) => {
  const { box, visit } = stage;
  const path = await begun(stage);
  const tab = await visit(path);
  const { page } = tab;
  const context = page.context();
  const written = "Nobody has seen this yet.";
  await page.fill(TEXT, written);
  await page.fill("[name=title]", "Soon");
  await framed(page, written);
  await crash(tab);
  const second = await context.newPage();
  await second.goto(box.url + path);
  assert.equal(await second.inputValue(TEXT), written);
  assert.equal(await second.inputValue("[name=title]"), "Soon");
  assert.match(
    (await second.textContent("#kept")) ?? "",
    /stored in this browser, unencrypted: draft of/,
  );
  await framed(second, written);
  // The session is over while somebody writes.
  await second.fill(TEXT, `${written} More.`);
  box.tenant.store.write((tx) => endOthers(tx, box.owner.accountId, null));
  await second.click("#entry .form-foot .button");
  await second.locator("#said", { hasText: "answered 401" }).waitFor();
  assert.equal(await second.inputValue(TEXT), `${written} More.`);
  await again(stage, second, path);
  assert.equal(await second.inputValue(TEXT), `${written} More.`);
  // Signing out asks, and keeps.
  await second.goto(`${box.url}/signout`);
  assert.equal(await second.locator("#unsent input").isChecked(), true);
  const [answer] = await Promise.all([
    second.waitForResponse((one) => one.request().method() === "POST"),
    second.click("#signout button"),
  ]);
  assert.equal(answer.status(), 200);
  await second.waitForURL(`${box.url}/signin`);
  await again(stage, second, path);
  assert.equal(await second.inputValue(TEXT), `${written} More.`);
  await second.click("#entry .form-foot .button");
  await second.locator("#said", { hasText: "Published" }).waitFor();
  await second.reload();
  assert.equal(await second.inputValue(TEXT), "");
  assert.deepEqual(await second.evaluate("Object.keys(localStorage)"), []);
};

/** The page's process ends as it does when it crashes. */
async function crash({ page }: Tab): Promise<void> {
  const gone = page.waitForEvent("crash");
  void page.goto("chrome://crash").catch(() => {});
  await gone;
}

async function again({ box }: Stage, page: Page, path: string): Promise<void> {
  const [name = "", value = ""] = signedIn(box).cookie.split("=");
  await page.context().addCookies([{ name, value, url: box.url }]);
  await page.goto(box.url + path);
}

/** AC-19.4: even a page that the box never made can do nothing in the frame. */
const nothingRuns: Step = async (stage) => {
  const path = await begun(stage);
  const tab = await stage.visit(path);
  const { page, noise } = tab;
  const hostile = XSS_VECTORS.join("\n");
  await page.route("**/preview", (route) => {
    const shown = new URLSearchParams(route.request().postData() ?? "").get("content_md");
    const body = `<!doctype html><main>shown ${shown}</main><script>trap(1)</script>${hostile}`;
    return route.fulfill({ contentType: "text/html", body });
  });
  const show = async (n: number, looks: number) => {
    noise.length = 0;
    await page.fill(TEXT, `${n}`);
    await framed(page, `shown ${n}`);
    // All that the page itself runs, runs until then; and the frame before is gone, from which the next one would be made.
    await page.mainFrame().childFrames().at(-1)?.waitForLoadState("load");
    await seen(tab, `document.querySelectorAll("iframe").length === 1`);
    for (let look = 0; look < looks && !noise.includes("a vector ran"); look++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return noise.includes("a vector ran");
  };
  await page.reload();
  assert.equal(await show(1, 25), false, "something ran in the frame");
  assert.equal(page.url(), stage.box.url + path);
  // It would, in a frame that may.
  await tab.run(
    `document.querySelector("iframe").setAttribute("sandbox", "allow-scripts allow-same-origin"); 0`,
  );
  assert.equal(await show(2, 500), true, "the trap doesn't catch");
  await page.unroute("**/preview");
};

/** On a phone one writes or reads; and without script publishing and the preview work by buttons. */
const onAPhone: Step = async (stage) => {
  const { visit, calm } = stage;
  const path = await begun(stage);
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const tab = await visit(path, { options });
  const { page } = tab;
  await page.fill(TEXT, "Cards are slow.");
  assert.equal(await page.locator("iframe").isVisible(), false);
  await page.tap("[data-show=read]");
  await framed(page, "Cards are slow.");
  assert.equal(await page.locator(TEXT).isVisible(), false);
  await calm(tab, "a report's page on a phone");
  const plain = await visit(path, { options: { javaScriptEnabled: false } });
  await plain.page.fill(TEXT, "Without script.");
  await plain.page.click(".noscript button");
  await framed(plain.page, "Without script.");
  assert.equal(await plain.page.inputValue(TEXT), "Without script.");
  await Promise.all([
    plain.page.waitForNavigation(),
    plain.page.click("#entry .form-foot > .button"),
  ]);
  assert.match((await plain.page.textContent("#entries")) ?? "", /Without script\./);
};

export async function reportsHold(browser: Browser): Promise<void> {
  await onStage(browser, async (stage) => {
    const token = await stage.box.project("shop");
    await stage.box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    await stage.box.ingest(token, { message: "disk is failing" });
    const steps = { showsBefore, factsAreTouched, nothingIsLost, nothingRuns, onAPhone };
    for (const [name, step] of Object.entries(steps)) {
      await step(stage);
      console.log(`  ok ${name}`);
    }
  });
}
