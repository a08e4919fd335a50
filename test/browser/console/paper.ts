/** On paper: an alert and a fortnight on call, without what can be pressed, and nothing cut. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { furnish } from "../../support/house.ts";
import { startReceiver } from "../../support/receiver.ts";
import type { Tab } from "../tab.ts";
import { onStage } from "./stage.ts";

/** What a browser leaves of A4 between margins of 15 mm, in pixels of the style sheet. */
const PAPER = { width: 680, height: 1009 };

/** What is seen that shouldn't be, and what is wider than the paper or another colour than black. */
const FAULTS = `(() => {
  const found = [];
  const seen = (element) => element.checkVisibility();
  for (const element of document.querySelectorAll("nav, form, main button, .bar, iframe, details.menu"))
    if (seen(element)) found.push("seen: " + element.outerHTML.slice(0, 80));
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0)
    found.push(over + " px too wide: " + [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 60)).join(" | ").slice(0, 400));
  for (const element of document.querySelectorAll("main *")) {
    if (!seen(element) || element.closest("svg, .hidden-text")) continue;
    const style = getComputedStyle(element);
    if (element.scrollWidth > element.clientWidth + 1 && style.overflowX !== "visible" && element.clientWidth > 0)
      found.push("cut: " + element.outerHTML.slice(0, 80));
    const [r, g, b] = style.color.match(/[\\d.]+/g).map(Number);
    if (Math.max(r, g, b) > 0x66) found.push("pale: " + style.color + " " + element.outerHTML.slice(0, 80));
  }
  for (const head of document.querySelectorAll("thead"))
    if (seen(head) && getComputedStyle(head).display !== "table-header-group" && !head.closest(".stacked"))
      found.push("a table's head that isn't repeated");
  if (getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)") found.push("not on white");
  if (!seen(document.querySelector(".paper"))) found.push("doesn't say where it is from");
  return [...new Set(found)];
})()`;

async function printed({ page, run }: Tab): Promise<unknown> {
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const found = await run(FAULTS);
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 5_000);
  return found;
}

export async function paperHolds(browser: Browser): Promise<void> {
  const receiver = await startReceiver();
  try {
    await onStage(browser, async ({ box, visit }) => {
      const { alerts } = await furnish(box, receiver);
      for (const path of [`/a/${alerts.critical}`, "/oncall/payments/primary"])
        assert.deepEqual(await printed(await visit(path)), [], path);
    });
  } finally {
    await receiver.close();
  }
}
