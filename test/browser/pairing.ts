/** The page at a pairing link, on a real box: from the link to a key that works, with scripts and without. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { type TestBox, testBox } from "../support/box.ts";
import { isCalmByDayAndNight, open, type Tab, withoutStatus } from "./tab.ts";

const PASSWORD = "correct horse é";

const LOOKS: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 360, height: 740 } },
  desk: { viewport: { width: 1100, height: 900 } },
};

async function linkOf(box: TestBox): Promise<{ link: string; code: string }> {
  return (await box.api("POST", "/v1/pair/codes", {})).body;
}

async function enter(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#${name}`, value);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

/** Ticks what asks for an API key. */
const withKey = (page: Page) => page.check("#wants_key");

async function worksWithKey(box: TestBox, page: Page, email: string): Promise<void> {
  const key = (await page.textContent("#api-key")) ?? "";
  const me = await box.api("GET", "/v1/me", undefined, key);
  assert.equal(me.status, 200);
  assert.ok(JSON.stringify(me.body).includes(email));
}

/** The page's script asks this box who invited. */
const asksNobodyElse = ({ url }: TestBox, { noise }: Tab) =>
  withoutStatus(noise).filter((line) => line !== `request: ${url}/pair`);

async function looks(browser: Browser, box: TestBox, pictures: string): Promise<void> {
  for (const [name, options] of Object.entries(LOOKS)) {
    const tab = await open(browser, options);
    const { page } = tab;
    const calm = (what: string) => isCalmByDayAndNight(tab, join(pictures, `pair-${what}-${name}`));
    const { link } = await linkOf(box);
    await page.goto(link);
    await calm("form");
    await withKey(page);
    // The link had the code: three fields are left. A page that was sent a wrong one shows it again.
    await page.locator("#code").waitFor({ state: "hidden" });
    await tab.run(`document.getElementById("code").value = "${"ab".repeat(24)}"; 0`);
    await enter(page, { email: `${name}@example.org`, password: PASSWORD });
    await calm("refused");
    await enter(page, { code: link, password: PASSWORD });
    await calm("paired");
    await worksWithKey(box, page, `${name}@example.org`);
    assert.deepEqual(asksNobodyElse(box, tab), []);
    await tab.close();
  }
}

/** The code is in the field at once, and nowhere else. */
async function takesTheCode(browser: Browser, box: TestBox): Promise<void> {
  const { link, code } = await linkOf(box);
  const asked: string[] = [];
  const tab = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = tab;
  page.on("request", (request) => asked.push(request.url() + JSON.stringify(request.headers())));
  for (const start of [link, link.replace("#", "?")]) {
    await page.goto(start);
    assert.equal(page.url(), `${box.url}/pair`);
    assert.equal(await page.inputValue("#code"), code);
    assert.equal(await tab.run("document.activeElement.id"), "email");
  }
  const boss = box.person("admin", "boss@example.org");
  const invited = { role: "admin", email: "tab@example.org" };
  const other = (await box.api("POST", "/v1/pair/codes", invited, boss.key)).body;
  await page.goto(other.link);
  await page.waitForSelector("text=You join this box as an admin.");
  assert.equal(await page.inputValue("#email"), "tab@example.org");
  assert.equal(await page.getAttribute("#email", "readonly"), "");
  assert.equal(await page.inputValue("#code"), other.code, "another link in the same tab");
  assert.equal(page.url(), `${box.url}/pair`);
  // What was asked for with the code in its query was the caller's own doing.
  asked.splice(0, asked.length, ...asked.filter((one) => !one.startsWith(`${box.url}/pair?code=`)));
  await withKey(page);
  await enter(page, { display_name: "Tab", password: PASSWORD });
  assert.ok(asked.length > 2 && asked.every((one) => !one.includes(code)), asked.join("\n"));
  await worksWithKey(box, page, "tab@example.org");
  const key = await page.textContent("#api-key");
  await page.click("[data-copy=api-key]");
  await page.waitForSelector("text=Copied");
  assert.equal(await tab.run("navigator.clipboard.readText()"), key);
  await page.reload();
  assert.equal(await page.locator("#api-key").count(), 0, "shown once");
  assert.match((await page.textContent("[role=alert]")) ?? "", /not accepted/);
  assert.deepEqual(asksNobodyElse(box, tab), []);
  await tab.close();
}

async function worksWithoutScript(browser: Browser, box: TestBox): Promise<void> {
  const { link } = await linkOf(box);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(link);
  assert.equal(await page.inputValue("#code"), "");
  await page.fill("#code", link);
  await page.click("button[name=look]");
  await page.waitForSelector("text=You join this box as a member.");
  await withKey(page);
  await enter(page, { code: link, email: "plain@example.org", password: PASSWORD });
  await worksWithKey(box, page, "plain@example.org");
  assert.equal(await page.locator("button:visible").count(), 0, "no button that does nothing");
  await context.close();
}

export async function pairingHolds(browser: Browser, pictures: string): Promise<void> {
  const box = await testBox();
  try {
    await looks(browser, box, pictures);
    await takesTheCode(browser, box);
    await worksWithoutScript(browser, box);
  } finally {
    await box.stop();
  }
}
