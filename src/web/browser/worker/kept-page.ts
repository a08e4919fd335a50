import { hourAt } from "./clock-words.ts";
import { escapeText } from "./drawn-page.ts";

/* Pages that were kept, as they are shown while the box can't be reached. Pure: text in, text out. */

/** What a page says of itself. */
export function pageFacts(page: string) {
  const [root = ""] = /<html[^>]*>/.exec(page) ?? [];
  const said = (name: string) => new RegExp(` data-${name}="([^"]*)"`).exec(root)?.[1] ?? "";
  return {
    /** The account that it was drawn for; "" for none. */
    who: said("who"),
    /** Their devices that the box knows. */
    devices: said("devices").split(" "),
    /** The box's clock when it was drawn, unix milliseconds. */
    drawnAt: Number(said("now")),
    zone: said("zone"),
    /** As markup. */
    title: /<title>([^<]*)<\/title>/.exec(page)?.[1] ?? "",
    /** Of an alert: nothing is left to be done. */
    isResolved: /class="state state-(\w+)"/.exec(page)?.[1] === "resolved",
  };
}

/** What is shown of a page that was kept at `keptAt`, both by the browser's clock in milliseconds. `hash`: of the files that there are. */
export function shownAgain(
  page: string,
  { keptAt, now, hash }: { keptAt: number; now: number; hash: string },
): string {
  const { drawnAt, zone } = pageFacts(page);
  const boxNow = drawnAt + Math.max(0, now - keptAt);
  const asOf = hourAt(drawnAt, boxNow, zone);
  const time = (datetime: string) => {
    const at = Date.parse(datetime);
    return Number.isNaN(at) ? datetime : hourAt(at, boxNow, zone);
  };
  return (
    page
      // Ages go on from when it was drawn.
      .replace(/(<html[^>]*) data-now="\d+"/, `$1 data-now="${boxNow}" data-as-of="${asOf}"`)
      .replace(/\/assets\/[\w-]{12}\//g, `/assets/${hash}/`)
      .replace(
        /(<div id="bar"[^>]*>)[\s\S]*?<\/div>/,
        `<div id="bar" class="bar" data-live="system" role="status">${unreachedLine(asOf)}</div>`,
      )
      // What would count down says its hour.
      .replace(
        /(· )?(in )?(<time datetime="([^"]*)") data-until role="timer"([^>]*>)[^<]*<\/time>/g,
        (_whole, again = "", before = "", head: string, datetime: string, tail: string) => {
          const clock = `${head}${tail}${time(datetime)}</time>`;
          if (before === "") return again + clock;
          // Its hour stands before it already.
          return again === "" ? `at ${clock}, if nothing changed` : "· if nothing changed";
        },
      )
  );
}

/** The bar, as the page's own script draws it. */
export const unreachedLine = (asOf: string): string =>
  `<p class="unreached" role="alert"><strong>The box can’t be reached</strong> · shown as of ${escapeText(asOf)} · <a href="">Try now</a></p>`;

/** A page that is kept. `at`: browser's clock, milliseconds. */
export interface KeptEntry {
  address: string;
  at: number;
}

const MOST_ALERTS = 50;
const LONGEST_MS = 7 * 86_400_000;

/** Addresses to forget: what is too old, and of alerts the oldest beyond fifty. */
export function tooMuch(kept: readonly KeptEntry[], now: number): string[] {
  const isOld = ({ at }: KeptEntry) => now - at > LONGEST_MS;
  const alerts = kept
    .filter((entry) => !isOld(entry) && /\/a\/\d+$/.test(entry.address))
    .sort((a, b) => b.at - a.at);
  return [...kept.filter(isOld), ...alerts.slice(MOST_ALERTS)].map(({ address }) => address);
}
