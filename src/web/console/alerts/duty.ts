import { currentOnCall } from "../../../core/oncall/answers.ts";
import { schedulesWith } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { dutyLine } from "../ui/duty-line.ts";
import { facesOf } from "../ui/faces.ts";
import { asked } from "../ui/schedule.ts";

/** Schedules that a person may be in. */
const MOST = 500;

/** For whom is on call: until when, and whether the box has proof that it reaches them. Empty for all others. */
export async function dutyStrip(call: PageCall): Promise<Markup> {
  const { tenant, now, who } = call;
  const mine: { project: string; until: number | null }[] = [];
  for (const stored of schedulesWith(tenant.store, who.accountId, { at: now, most: MOST })) {
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
