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

/** Runs in the page: each word of what is pressed, heads a page or tells a state that stands in two lines, and of the main navigation each that isn't seen whole. */
const CUT = `(() => {
  const found = [];
  for (const place of document.querySelectorAll("h1, label, button, .button, .nav-item, .tabs a, .badge, .state, .row-next")) {
    if (!place.checkVisibility()) continue;
    const walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode())
      for (const { 0: word, index } of text.data.matchAll(/(?<!\\S)\\p{L}{2,14}(?!\\S)/gu)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push("cut in two: " + word + " of " + place.textContent.trim().slice(0, 40));
      }
  }
  for (const item of document.querySelectorAll(".nav > *"))
    if (item.scrollWidth > item.clientWidth + 1 || item.getBoundingClientRect().right > innerWidth + 1)
      found.push("not seen whole: " + item.textContent.trim().slice(0, 20));
  return [...new Set(found)];
})()`;

/** Words that larger text cuts. */
export const cutWords = ({ run }: Tab): Promise<string[]> => run(CUT) as Promise<string[]>;
