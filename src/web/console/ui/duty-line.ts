import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { chip, type Face, proofWords } from "./faces.ts";
import { icon } from "./icon.ts";
import { clockTime, span } from "./times.ts";

/** Who is on call, for how long and whether they are proved, in one line. Pure. */
export function dutyLine(
  call: Pick<PageCall, "base" | "now" | "look">,
  of: { me: Face; project: string; until: number | null; more: number },
): Markup {
  const { me, project, until } = of;
  const isProved = me.proof === "proved";
  const words = isProved
    ? proofWords(call, me)
    : html`<span class="warn">you are not proved</span>`;
  const more = of.more > 0 && ` and ${of.more} more`;
  return html`<a class="duty-strip" href="${call.base}${isProved ? "/oncall" : "/me/devices"}">${chip(me)}<span><b>You’re on call</b>${
    until !== null && html` for ${lasts(until - call.now)}`
  }<br><span class="small soft">${project}${more}${
    until !== null && html` until ${clockTime(call, until)}`
  } · ${words}</span></span>${icon("next", "small")}</a>`;
}

/** "6 h 54", "3 days", "12 min". */
function lasts(seconds: number): string {
  const minutes = Math.max(0, Math.floor(seconds / 60));
  if (minutes >= 2 * 1440) return span(seconds);
  return minutes < 60
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}
