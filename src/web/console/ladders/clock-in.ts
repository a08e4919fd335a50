import { html, type Markup } from "../../../ground/kit/html.ts";
import { exact } from "../ui/times.ts";

const HALF_A_DAY = 43_200;
const formats = new Map<string, Intl.DateTimeFormat>();

/** "Sun 22 Nov 03:00" on the clocks of a zone: a rota's own, where the ladder has one. `near`: within half a day of it the hour alone is said. */
export function clockIn(at: number, zone: string, near: number | null = null): Markup {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", {
      weekday: "short",
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone: zone,
    });
    if (formats.size > 100) formats.clear();
    formats.set(zone, format);
  }
  const date = new Date(at * 1000);
  const whole = format.format(date).replaceAll(",", "");
  const words = near !== null && Math.abs(at - near) < HALF_A_DAY ? whole.slice(-5) : whole;
  return html`<time datetime="${date.toISOString().replace(".000Z", "Z")}" title="${exact(at, zone)}">${words}</time>`;
}
