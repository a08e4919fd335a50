/** A schedule's pages on a real box: three ways to cover a stretch that end in one row, and nothing for a checker to find. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { BROWSER_PATIENCE_MS, findings, open, withoutStatus } from "../tab.ts";

const HOUR = 3600;
const PAGE = "/oncall/shop/first";

export async function oncallHolds(browser: Browser, pictures: string): Promise<void> {
  const box = await testBox();
  await box.project("shop");
  const bob = box.person("member", "bob@example.org");
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "weekly",
    participants: [box.owner.accountId, bob.accountId],
    rotation_start: now - 30 * HOUR,
    shift_minutes: 3 * 1440,
    restriction: { days: [1, 2, 3, 4, 5], start_minute: 0, end_minute: 1440 },
  };
  const base = "/v1/projects/shop/oncall/schedules";
  await box.api("POST", base, { name: "first", timezone: "Europe/Berlin", layers: [layer] });
  const tab = await open(browser, { viewport: { width: 1280, height: 900 }, locale: "en-US" });
  const { page } = tab;
  page.setDefaultTimeout(BROWSER_PATIENCE_MS);
  await page.context().addCookies([
    { name: "box", value: signedIn(box).cookie.replace(/^box=/, ""), url: box.url },
    { name: "zone", value: "America%2FNew_York", url: box.url },
  ]);
  const made = async () => {
    const { overrides } = (await box.api("GET", `${base}/first/overrides`)).body;
    const rows = overrides.map(({ account_id, starts_at, ends_at }: Record<string, unknown>) => ({
      account_id,
      starts_at,
      ends_at,
    }));
    for (const { id } of overrides) await box.api("DELETE", `${base}/first/overrides/${id}`);
    return rows;
  };
  // Tomorrow from nine to five, on the schedule's clock.
  const day = new Date((now + 24 * HOUR) * 1000).toISOString().slice(0, 10);
  const days = `from=${new Date(now * 1000).toISOString().slice(0, 10)}&days=3`;
  const at = (hour: number) => Date.parse(`${day}T0${hour}:00:00+01:00`) / 1000;
  const wanted = { account_id: bob.accountId, starts_at: at(9), ends_at: at(9) + 8 * HOUR };
  const untilTrue = async (expression: string) => {
    const end = performance.now() + BROWSER_PATIENCE_MS;
    while ((await tab.run(expression)) !== true) {
      if (performance.now() > end) assert.fail(`not soon: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const told = () =>
    untilTrue(
      String.raw`/bob@example\.org is on call.*Undo/.test(document.querySelector("#said")?.textContent)`,
    );
  const send = async () => {
    await page.selectOption("#cover select[name=account_id]", bob.accountId);
    await page.click("#cover-form .button");
    await told();
  };
  try {
    await page.goto(`${box.url}${PAGE}?${days}`);
    await page.fill("#cover-starts_at", `${day}T09:00`);
    await page.fill("#cover-ends_at", `${day}T17:00`);
    await send();
    assert.deepEqual(await made(), [wanted], "by the form");

    await page.goto(`${box.url}${PAGE}?${days}`);
    const [from, until] = [await spot(page, wanted.starts_at), await spot(page, wanted.ends_at)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + until.x) / 2, from.y);
    await page.mouse.move(until.x, until.y);
    await Promise.all([page.waitForURL(/cover=/), page.mouse.up()]);
    await send();
    assert.deepEqual(await made(), [wanted], "by drag");

    await page.goto(`${box.url}${PAGE}?${days}`);
    await page.click("[data-pick]");
    const [first, last] = [await spot(page, wanted.ends_at), await spot(page, wanted.starts_at)];
    await page.mouse.click(first.x, first.y);
    await Promise.all([page.waitForURL(/cover=/), page.mouse.click(last.x, last.y)]);
    await send();
    assert.deepEqual(await made(), [wanted], "by two taps, the end first");

    await page.goto(`${box.url}${PAGE}?${days}`);
    await page.focus(`#calendar a[data-row-kind=final][data-until="${await lastUntil(page)}"]`);
    await Promise.all([page.waitForURL(/cover=/), page.keyboard.press("Enter")]);
    const [year, month, date] = day.split("-");
    for (const [name, hour] of [
      ["starts_at", "0900AM"],
      ["ends_at", "0500PM"],
    ]) {
      await page.focus(`#cover-${name}`);
      await page.keyboard.type(`${month}${date}${year}`);
      await page.keyboard.press("Tab");
      await page.keyboard.type(hour ?? "");
    }
    await page.focus("#cover select[name=account_id]");
    await page.keyboard.type("bob");
    await page.focus("#cover-form .button");
    await page.keyboard.press("Enter");
    await told();
    assert.deepEqual(await made(), [wanted], "by keyboard");

    // While it is filled in, what it would do is shown; nothing is written.
    await page.goto(`${box.url}${PAGE}?${days}`);
    await page.fill("#cover-starts_at", `${day}T09:00`);
    await page.fill("#cover-ends_at", `${day}T10:00`);
    await page.selectOption("#cover select[name=account_id]", bob.accountId);
    await untilTrue(`document.querySelector("#would").textContent.includes("(1 h)")`);
    assert.deepEqual(await made(), []);

    // A layer's draft is changed and tried in place; the saved one stays until it is saved.
    await page.goto(`${box.url}${PAGE}/layers`);
    await page.click("[value=new-layer]");
    await untilTrue(`document.querySelectorAll(".layer").length === 2`);
    await untilTrue(`document.querySelector("#would").textContent.includes("Closes")`);
    await page.fill("#l1-name", "all week");
    await page.check("#layer-1 [value=hours]");
    assert.equal((await box.api("GET", `${base}/first`)).body.layers.length, 1);
    await Promise.all([page.waitForURL(box.url + PAGE), page.keyboard.press("Control+s")]);
    const { layers } = (await box.api("GET", `${base}/first`)).body;
    assert.deepEqual(
      layers.map(({ name, restriction }: { name: string; restriction: unknown }) => [
        name,
        restriction,
      ]),
      [
        ["weekly", layer.restriction],
        ["all week", { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1020 }],
      ],
    );

    for (const width of [320, 1280])
      for (const path of ["/oncall", PAGE, `${PAGE}/layers`]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(box.url + path);
        assert.deepEqual(await findings(tab), [], `${path} ${width}`);
        const over = await tab.run("document.documentElement.scrollWidth - innerWidth");
        assert.ok(Number(over) <= 0, `${path} is ${over} px too wide at ${width}`);
        const name = path.replaceAll("/", "-").slice(1);
        await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true });
      }
    const own = withoutStatus(tab.noise).filter((line) => !line.startsWith(`request: ${box.url}/`));
    assert.deepEqual(own, []);
  } finally {
    await tab.close();
    await box.stop();
  }
}

/** Where an instant stands in the calendar's first row, in pixels. */
async function spot(page: Page, at: number): Promise<{ x: number; y: number }> {
  const svg = page.locator("svg[data-pick-to]");
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  assert.ok(box);
  const [from = 0, until = 0] = await Promise.all(
    ["from", "until"].map(async (name) => Number(await svg.getAttribute(`data-${name}`))),
  );
  return { x: box.x + (box.width * (at - from)) / (until - from), y: box.y + 20 };
}

/** The end of the last block that can still be covered. */
const lastUntil = async (page: Page): Promise<string> =>
  (await page.locator("#calendar a[data-row-kind=final]").last().getAttribute("data-until")) ?? "";
