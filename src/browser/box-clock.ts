import { drawnAt, pageZone } from "./page.ts";

/*
 * The box's clock, told by a browser whose own may be an hour off. A page says when it was drawn, which was about when
 * its first byte came; each answer says it anew, so that a page out of the cache or a phone that slept goes right, too.
 */

/** What the box's clock is ahead of the browser's, milliseconds. */
let ahead = Number.isNaN(drawnAt) ? 0 : drawnAt - arrivedAt();

/** `Date` has whole seconds: below this it says nothing new. */
const COARSE_MS = 1_500;

/** The browser's clock at the page's first byte. */
function arrivedAt(): number {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return Date.now() - (performance.now() - (entry?.responseStart ?? 0));
}

/** Unix milliseconds on the box. */
export const boxNow = (): number => Date.now() + ahead;

/** Sets the clock by an answer: to the millisecond by `X-Now`, else by `Date`. */
export function heardTime({ headers }: Response): void {
  const exact = Number(headers.get("x-now") ?? Number.NaN);
  const coarse = Date.parse(headers.get("date") ?? "") + 500;
  if (!Number.isNaN(exact)) ahead = exact - Date.now();
  else if (Math.abs(coarse - boxNow()) > COARSE_MS) ahead = coarse - Date.now();
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
