import { sql } from "drizzle-orm";
import type { Slices } from "../kit/slices.ts";
import { accounts } from "../store/schema.ts";
import type { Reader } from "../store/store.ts";
import { type CalendarShift, followIcalendar } from "./calendar.ts";
import { listOverrides } from "./overrides.ts";
import {
  type Duty,
  followCalendar,
  followDuty,
  followNext,
  followPreview,
  type Range,
} from "./rotation.ts";
import type { Current, PreviewAnswer, Schedule, StoredSchedule } from "./schedule.ts";
import { schedulesWith } from "./schedules.ts";

/** What an answer is made with: all reads come first, then the schedule is followed in slices of the loop. */
export interface Asking {
  reader: Reader;
  slices: Slices;
}

/** Who is on call at `at`. A removed account is nobody (its email is gone with it). */
export async function currentOnCall(
  { reader, slices }: Asking,
  stored: StoredSchedule,
  at: number,
): Promise<Current> {
  const { schedule, emailOf } = readAll(reader, stored);
  const duty = await slices.run(followDuty(schedule, at));
  const email = duty === null ? undefined : emailOf(duty.account_id);
  if (duty !== null && email !== undefined)
    return { on_call: true, ...duty, email, schedule: stored.name };
  const next = await slices.run(followNext(schedule, at));
  return { on_call: false, next: next === null ? null : nextUp(next, emailOf(next.account_id)) };
}

function nextUp({ account_id, starts_at }: Duty, email: string | undefined) {
  return email === undefined ? null : { account_id, email, starts_at };
}

export async function previewOnCall(
  { reader, slices }: Asking,
  stored: StoredSchedule,
  range: Range,
): Promise<PreviewAnswer> {
  const { schedule, emailOf } = readAll(reader, stored);
  const { shifts, gaps, until } = await slices.run(followPreview(schedule, range));
  return {
    shifts: shifts.map((shift) => ({ ...shift, email: emailOf(shift.account_id) ?? "" })),
    gaps,
    until,
  };
}

const DAY = 86_400;

/** When a calendar is asked for: it reaches from 30 days before `today` to 180 after (contract §5). */
export interface CalendarTime {
  now: number;
  today: number;
}

const rangeOf = ({ today }: CalendarTime): Range => ({
  from: today - 30 * DAY,
  until: today + 180 * DAY,
});

/** The schedule as a calendar. */
export async function calendarOf(
  { reader, slices }: Asking,
  stored: StoredSchedule,
  at: CalendarTime,
): Promise<string> {
  const { schedule, emailOf } = readAll(reader, stored);
  const shifts = await slices.run(followCalendar(schedule, rangeOf(at)));
  return slices.run(
    followIcalendar({
      name: stored.name,
      made_at: at.now,
      shifts: shifts.map((shift) => ({
        ...shift,
        schedule: stored,
        email: emailOf(shift.account_id) ?? shift.account_id,
      })),
    }),
  );
}

/** Schedules that one person's calendar follows. */
const MOST_FOLLOWED = 100;

/** One person's shifts, of every schedule that has them on call. */
export async function shiftsCalendarOf(
  { reader, slices }: Asking,
  account: string,
  at: CalendarTime,
): Promise<string> {
  const range = rangeOf(at);
  const own = schedulesWith(reader, account, { at: range.from, most: MOST_FOLLOWED });
  const read = own.map((stored) => ({ stored, ...readAll(reader, stored) }));
  const shifts: CalendarShift[] = [];
  let email = "";
  for (const { stored, schedule, emailOf } of read) {
    email = emailOf(account) ?? email;
    const named = { id: stored.id, name: `${stored.project}/${stored.name}` };
    for (const shift of await slices.run(followCalendar(schedule, range)))
      if (shift.account_id === account) shifts.push({ ...shift, schedule: named, email });
  }
  const name = email === "" ? "nothing" : email;
  return slices.run(followIcalendar({ name, made_at: at.now, shifts }));
}

/** The schedule as it is evaluated, and the email of each account it names that still exists. */
function readAll(reader: Reader, stored: StoredSchedule) {
  const { timezone, layers } = stored;
  const schedule: Schedule = { timezone, layers, overrides: listOverrides(reader, stored) };
  const named = new Set([
    ...layers.flatMap((layer) => layer.participants),
    ...schedule.overrides.map((override) => override.account_id),
  ]);
  const rows = reader.orm
    .select({ id: accounts.id, email: accounts.email })
    .from(accounts)
    .where(sql`${accounts.id} IN (SELECT value FROM json_each(${JSON.stringify([...named])}))`)
    .all();
  const emails = new Map(rows.map(({ id, email }) => [id, email]));
  return { schedule, emailOf: (account: string) => emails.get(account) };
}
