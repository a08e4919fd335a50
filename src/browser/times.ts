import { agoWords, leftWords } from "./ago.ts";
import { boxNow } from "./box-clock.ts";

/** One timer for all times of the page; text is touched only where it changes. */
export function keepTimes(): void {
  drawEachSecond();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) drawTimes();
  });
  drawTimes();
}

/** At the box's whole seconds, at which what it counts changes. */
function drawEachSecond(): void {
  setTimeout(
    () => {
      if (!document.hidden) drawTimes();
      drawEachSecond();
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
