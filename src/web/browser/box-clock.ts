import { drawnAt, pageZone } from "./page.ts";

/*
 * The box's clock, told by a browser whose own may be an hour off. A page says when it was drawn, which was about when
 * its first byte came; answers say it anew, so that a page out of the browser's cache goes right, too.
 */

/** Below this an answer says nothing new, milliseconds: it was on its way meanwhile. */
const COARSE_MS = 500;

/** What the box's clock is ahead of the browser's, milliseconds. */
let ahead = Number.isNaN(drawnAt) ? 0 : drawnAt - arrivedAt();

/** The browser's clock at the page's first byte. */
function arrivedAt(): number {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return Date.now() - (performance.now() - (entry?.responseStart ?? 0));
}

/** Unix milliseconds on the box. */
export const boxNow = (): number => Date.now() + ahead;

/** Sets the clock by an answer, where it is off. */
export function heardTime({ headers }: Response): void {
  const now = Number(headers.get("x-now") ?? Number.NaN);
  if (Math.abs(now - boxNow()) > COARSE_MS) ahead = now - Date.now();
}

/** "02:14" as the page's times are written. */
export function clockWords(at: number): string {
  return new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: pageZone,
  }).format(at);
}
