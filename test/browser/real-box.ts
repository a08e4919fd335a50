/** The gate of a real box: its routes, its cookie, its headers, as the browser takes them. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { testBox } from "../support/box.ts";
import { findings, open, withoutStatus } from "./tab.ts";

const PASSWORD = "correct horse é";

/** From a wrong password to a rotated address, by keyboard; nothing on the console on the way. */
export async function realBoxHolds(browser: Browser): Promise<void> {
  const box = await testBox();
  const tab = await open(browser);
  const { page } = tab;
  const enter = async (password: string) => {
    await page.fill("#password", password);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  };
  const standing = () => page.textContent(".now strong");
  try {
    await box.project("p");
    const body = { title: "Slow payments", view_password: PASSWORD };
    const made = await box.api("POST", "/v1/projects/p/reports", body);
    const base = `/v1/projects/p/reports/${made.body.id}`;
    await box.api("POST", `${base}/entries`, { content_md: "**Ten** are slow", title: "We look" });
    const url = `${box.url}/public/reports/${made.body.public_uuid}`;

    assert.equal((await page.goto(url))?.status(), 401);
    await enter("not it");
    assert.equal(await page.textContent("[role=alert]"), "That password isn't right.");
    await enter(PASSWORD);
    assert.deepEqual([page.url(), await standing()], [url, "Update"]);
    assert.equal(await page.textContent(".content strong"), "Ten");
    assert.deepEqual(await findings(tab), []);

    await page.click("text=Stop refreshing");
    assert.deepEqual([page.url(), await standing()], [`${url}?refresh=off`, "Update"]);
    await page.click("text=Refresh every minute");
    assert.deepEqual([page.url(), await standing()], [url, "Update"]);

    await box.api("PUT", base, { title: "Slow payments", view_password: "another" });
    assert.equal((await page.reload())?.status(), 401);
    await enter("another");
    assert.equal(await standing(), "Update");

    await box.api("POST", `${base}/rotate-uuid`);
    assert.equal((await page.reload())?.status(), 404);
    assert.equal(await page.textContent("h1"), "There is no report at this address");
    assert.deepEqual(withoutStatus(tab.noise), []);
  } finally {
    await tab.close();
    await box.stop();
  }
}
