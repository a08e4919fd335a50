import { agoWords, leftWords } from "./ago.ts";
import { boxNow } from "./box-clock.ts";

/** One timer for all times of the page, which calls `onSecond`, too; text is touched only where it changes. */
export function keepTimes(onSecond: () => void): void {
  drawEachSecond(onSecond);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) drawTimes();
  });
  drawTimes();
}

/** At the box's whole seconds, at which what it counts changes. */
function drawEachSecond(onSecond: () => void): void {
  setTimeout(
    () => {
      if (!document.hidden) {
        drawTimes();
        onSecond();
      }
      drawEachSecond(onSecond);
    },
    1000 - (boxNow() % 1000),
  );
}

export function drawTimes(): void {
  const now = boxNow();
  for (const time of document.querySelectorAll<HTMLTimeElement>(
    "time[data-ago], time[data-until]",
  )) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    const text =
      "until" in time.dataset
        ? leftWords((at - now) / 1000)
        : agoWords((now - at) / 1000, time.dataset["ago"] === "bare");
    if (time.textContent !== text) time.textContent = text;
  }
}
