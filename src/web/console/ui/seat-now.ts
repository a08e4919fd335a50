import { currentOnCall } from "../../../core/oncall/answers.ts";
import { listOverrides } from "../../../core/oncall/overrides.ts";
import type { Current, StoredSchedule } from "../../../core/oncall/schedule.ts";
import type { PageCall } from "../screen.ts";
import { blocksOf, type CalendarBlock } from "./calendar-rows.ts";
import { asked, previewStored } from "./schedule.ts";

const DAY = 86_400;
export const LOOK_DAYS = 14;
/** One schedule as the list of all shows it. */
export interface SeatNow {
  stored: StoredSchedule;
  current: Current;
  /** What follows the one who has it now: null where the fortnight says nothing of it. */
  next: CalendarBlock | null;
  /** Of the next 14 days, the one that is now included. */
  gaps: CalendarBlock[];
  /** The reader's own that begins next in that time. */
  mine: CalendarBlock | null;
}

export async function seatNow(call: PageCall, stored: StoredSchedule): Promise<SeatNow> {
  const { now, tenant } = call;
  const current = await currentOnCall(asked(call), stored, now);
  const overrides = listOverrides(tenant.store, stored);
  const range = { from: now, until: now + LOOK_DAYS * DAY };
  const blocks = blocksOf(await previewStored(call, { stored, overrides }, range));
  const end = current.on_call ? current.ends_at : now;
  const next = blocks.find(
    ({ starts_at, account_id }) =>
      end !== null && starts_at >= end && (current.on_call || account_id !== null),
  );
  const gaps = blocks.filter(({ account_id }) => account_id === null);
  const mine = blocks.find(
    ({ account_id, starts_at }) => account_id === call.who.accountId && starts_at > now,
  );
  return { stored, current, next: next ?? null, gaps, mine: mine ?? null };
}
