import { currentOnCall } from "../../../core/oncall/answers.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { chip, type Face, facesOf, proofWords } from "../ui/faces.ts";
import { icon } from "../ui/icon.ts";
import { asked } from "../ui/schedule.ts";
import { clockTime } from "../ui/times.ts";

/** For whom is on call: until when, and whether the box has proof that it reaches them. Empty for all others. */
export async function dutyStrip(call: PageCall): Promise<Markup> {
  const { tenant, now, who } = call;
  const mine: { project: string; until: number | null }[] = [];
  for (const stored of listAllSchedules(tenant.store)) {
    const current = await currentOnCall(asked(call), stored, now);
    const own = current.on_call
      ? current.accounts.find(({ account_id }) => account_id === who.accountId)
      : undefined;
    if (own !== undefined) mine.push({ project: stored.project, until: own.ends_at });
  }
  const [first] = mine.sort((a, b) => (a.until ?? Infinity) - (b.until ?? Infinity));
  if (first === undefined) return html``;
  const me = (await facesOf(call, who.accountId))(who.accountId);
  return dutyLine(call, { me, ...first, more: mine.length - 1 });
}

/** One line of it. Pure. */
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
  if (minutes >= 2 * 1440) return `${Math.floor(minutes / 1440)} days`;
  return minutes < 60
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}
