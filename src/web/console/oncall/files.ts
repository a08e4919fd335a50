import { calendarOf, shiftsCalendarOf } from "../../../core/oncall/answers.ts";
import { DAY } from "../../../core/oncall/zone.ts";
import type { PageCall, PageFile } from "../screen.ts";
import { asked, scheduleOf } from "../ui/schedule.ts";

/** Calendars that are saved once; a secret address is for what is to stay fresh. */

const TYPE = "text/calendar; charset=utf-8";

const at = ({ now }: PageCall) => ({ now, today: now - (now % DAY) });

/** All shifts of one schedule. */
export async function scheduleFile(call: PageCall): Promise<PageFile> {
  const { stored } = scheduleOf(call.tenant.store, call.params);
  const body = await calendarOf(asked(call), stored, at(call));
  return { name: `${stored.project}-${stored.name}.ics`, type: TYPE, body };
}

/** One's own shifts of every schedule. */
export async function ownFile(call: PageCall): Promise<PageFile> {
  const body = await shiftsCalendarOf(asked(call), call.who.accountId, at(call));
  return { name: "my-shifts.ics", type: TYPE, body };
}
