import { lt } from "drizzle-orm";
import type { Work } from "../../ground/kit/slices.ts";
import type { AwaySpan } from "../../ground/store/columns.ts";
import { awayAsked } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { membersAmong } from "../projects/rule-references.ts";
import { isAway, peopleAway } from "./away.ts";
import { followed } from "./holder.ts";
import { followCalendar } from "./rotation.ts";
import { scheduleById, schedulesWith } from "./schedules.ts";
import { DAY } from "./zone.ts";

/** Shifts that people have while they are away, and who was asked about which. */

const AWAY_LOOK = 14 * DAY;
/** Schedules of one person that are looked at. */
const MOST_SCHEDULES = 100;

interface AwayShift {
  account: string;
  scheduleId: string;
  project: string;
  schedule: string;
  timezone: string;
  starts_at: number;
  ends_at: number;
}

/** Shifts of the next 14 days whose people are away in some of them, by person. Costs nothing where nobody is away. */
export function* followAwayShifts(reader: Reader, now: number): Work<AwayShift[]> {
  const found: AwayShift[] = [];
  for (const [account, spans] of peopleAway(reader, now))
    found.push(...(yield* shiftsOf(reader, { account, spans, now })));
  return found;
}

function* shiftsOf(
  reader: Reader,
  { account, spans, now }: { account: string; spans: readonly AwaySpan[]; now: number },
): Work<AwayShift[]> {
  const ahead = spans.filter(({ from, until }) => until > now && from < now + AWAY_LOOK);
  if (ahead.length === 0) return [];
  const found: AwayShift[] = [];
  for (const stored of schedulesWith(reader, account, { at: now, most: MOST_SCHEDULES })) {
    const schedule = followed(reader, stored);
    const { id: scheduleId, project, name, timezone } = stored;
    for (const shift of yield* followCalendar(schedule, { from: now, until: now + AWAY_LOOK })) {
      const rest = { starts_at: Math.max(now, shift.starts_at), ends_at: shift.ends_at };
      if (shift.account_id !== account || !isAway(ahead, rest)) continue;
      const { starts_at, ends_at } = shift;
      found.push({ account, scheduleId, project, schedule: name, timezone, starts_at, ends_at });
    }
  }
  return found;
}

/** Writes that a person is asked about a shift now; false where that was done before, or its schedule is gone. */
export function askedAboutShift(tx: Tx, shift: AwayShift): boolean {
  const { scheduleId, account: accountId, starts_at: startsAt, ends_at: endsAt } = shift;
  if (scheduleById(tx, scheduleId) === null || !membersAmong(tx, [accountId]).has(accountId))
    return false;
  const { changes } = tx.orm
    .insert(awayAsked)
    .values({ scheduleId, accountId, startsAt, endsAt })
    .onConflictDoNothing()
    .run();
  return changes > 0;
}

/** Forgets about shifts that are long over. */
export function forgetAsked(tx: Tx): void {
  tx.orm
    .delete(awayAsked)
    .where(lt(awayAsked.endsAt, tx.at - AWAY_LOOK))
    .run();
}
