import type { Tab } from "../tab.ts";

/** Runs in the page: a sentence for each thing that stands where it can't be read or used. */
const LOOK = `(() => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const words = (element) => element.textContent.trim().slice(0, 30);
  for (const bar of seen(".actions"))
    if (getComputedStyle(bar).position === "fixed" && Math.abs(box(bar).bottom - innerHeight) > 1)
      found.push("the page is seen below its bar of actions");
  for (const row of seen(".who-item")) {
    const [mark, text] = row.children;
    if (mark.getAttribute("aria-hidden") === "true" && box(text).top >= box(mark).bottom)
      found.push("a mark stands above what it is of: " + words(row));
  }
  for (const line of seen(".line-own"))
    if (box(line.firstElementChild).left < box(line).left + 4) found.push("its mark covers a line: " + words(line));
  for (const button of seen(".snippet > button")) {
    const range = document.createRange();
    range.selectNodeContents(button.previousElementSibling);
    const over = box(button);
    const isUnder = (text) => text.right > over.left && text.left < over.right && text.bottom > over.top && text.top < over.bottom;
    if ([...range.getClientRects()].some(isUnder)) found.push("a button covers: " + words(button.parentElement));
  }
  for (const tab of seen(".tabs [aria-current]")) {
    const tabs = box(tab.parentElement);
    if (box(tab).left < tabs.left - 1 || box(tab).right > tabs.right + 1) found.push("cut off: the tab " + words(tab));
  }
  for (const row of innerWidth >= 340 && innerWidth < 640 ? seen(".row:has(.row-about)") : [])
    if (box(row.querySelector(".row-about")).width < box(row).width * 0.45)
      found.push("pressed into a narrow column: " + words(row.querySelector(".row-about")));
  for (const tick of seen("input:is([type=checkbox], [type=radio])"))
    if (Math.abs(box(tick).width - box(tick).height) > 1) found.push("pressed flat: " + words(tick.parentElement));
  return [...new Set(found)];
})()`;

/** What stands crooked on the page that is shown. */
export async function crooked(tab: Tab): Promise<string[]> {
  // The page's script puts some of it right in the frame that lays the page out.
  await tab.run("new Promise((done) => requestAnimationFrame(() => done(0)))");
  return (await tab.run(LOOK)) as string[];
}
