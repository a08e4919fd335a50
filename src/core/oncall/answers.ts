import { sql } from "drizzle-orm";
import type { Slices, Work } from "../../ground/kit/slices.ts";
import { accounts } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { isAway, timesAway } from "./away.ts";
import { type CalendarShift, followIcalendar } from "./calendar.ts";
import { holidayDays } from "./holiday-days.ts";
import { listOverrides } from "./overrides.ts";
import {
  type Duty,
  followCalendar,
  followDuties,
  followNext,
  followPreview,
  isOffAt,
  type Range,
} from "./rotation.ts";
import {
  type Current,
  type DraftPreview,
  type PreviewAnswer,
  peopleOfLayers,
  type Schedule,
  type ScheduleInput,
  type StoredSchedule,
} from "./schedule.ts";
import { schedulesWith } from "./schedules.ts";

/** A schedule that may be stored nowhere. Its holidays are those of the tenant. */
type DraftSchedule = Omit<Schedule, "holidays">;

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
  const { schedule, emailOf } = readStored(reader, stored);
  const duties = await slices.run(followDuties(schedule, at));
  const accounts = duties.flatMap(({ account_id, starts_at, ends_at }) => {
    const email = emailOf(account_id);
    return email === undefined ? [] : [{ account_id, email, starts_at, ends_at }];
  });
  const [first] = accounts;
  if (first !== undefined) {
    const { layer = null, override_id = null } = duties[0] ?? {};
    return { on_call: true, ...first, accounts, schedule: stored.name, layer, override_id };
  }
  const next = await slices.run(followNext(schedule, at));
  return {
    on_call: false,
    ...(isOffAt(schedule, at) && { off: true as const }),
    next: next === null ? null : nextUp(next, emailOf(next.account_id)),
  };
}

function nextUp({ account_id, starts_at }: Duty, email: string | undefined) {
  return email === undefined ? null : { account_id, email, starts_at };
}

export async function previewOnCall(
  { reader, slices }: Asking,
  stored: StoredSchedule,
  range: Range,
): Promise<PreviewAnswer> {
  return await slices.run(previewed(readStored(reader, stored), range));
}

/** The same of a schedule that may be stored nowhere: with another layer, another override. */
export async function previewOf(
  { reader, slices }: Asking,
  schedule: DraftSchedule,
  range: Range,
): Promise<PreviewAnswer> {
  return await slices.run(previewed(readAll(reader, schedule), range));
}

/** What a calendar's rows are drawn from. */
export interface PreviewRows {
  final: PreviewAnswer;
  /** The overrides alone, as they win. */
  overrides: PreviewAnswer;
  /** Each layer alone, as if there were no other. */
  layers: { name: string; preview: PreviewAnswer }[];
}

/** `previewOf` of the whole, and of each of its parts. */
export async function previewRows(
  asked: Asking,
  { timezone, layers, overrides, covers = "always" }: DraftSchedule,
  range: Range,
): Promise<PreviewRows> {
  const of = (part: Partial<DraftSchedule>) =>
    previewOf(asked, { timezone, layers: [], overrides: [], ...part }, range);
  const alone: PreviewRows["layers"] = [];
  for (const layer of layers)
    alone.push({ name: layer.name, preview: await of({ layers: [layer] }) });
  return {
    final: await of({ layers, overrides, covers }),
    overrides: await of({ overrides }),
    layers: alone,
  };
}

/**
 * What a schedule would be with these layers, overrides as they are, and what it is as it is saved. `draft` as
 * `checkSchedule` takes it.
 */
export async function previewDraft(
  { reader, slices }: Asking,
  { draft, saved }: { draft: ScheduleInput; saved: StoredSchedule | null },
  range: Range,
): Promise<DraftPreview> {
  const overrides = saved === null ? [] : listOverrides(reader, saved);
  const covers = draft.covers ?? saved?.covers ?? "always";
  const would = readAll(reader, { ...draft, overrides, covers });
  const is = saved === null ? null : readAll(reader, { ...saved, overrides });
  const answer = await slices.run(previewed(would, range));
  return { ...answer, was: is === null ? null : await slices.run(previewed(is, range)) };
}

function* previewed({ schedule, emailOf, away }: Read, range: Range): Work<PreviewAnswer> {
  const { shifts, gaps, until } = yield* followPreview(schedule, range);
  const shown: PreviewAnswer["shifts"] = [];
  for (const shift of shifts) {
    const spans = away.get(shift.account_id);
    if (spans !== undefined) yield Math.ceil(spans.length / LOOKED_THROUGH);
    const one = { ...shift, email: emailOf(shift.account_id) ?? "" };
    shown.push(isAway(spans, shift) ? { ...one, away: true } : one);
  }
  return { shifts: shown, gaps, until };
}

/** So many times away cost as much as a look at one layer. */
const LOOKED_THROUGH = 20;

const DAY = 86_400;

/** When a calendar is asked for: it reaches from 30 days before `today` to 180 after (contract §5). */
interface CalendarTime {
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
  const { schedule, emailOf } = readStored(reader, stored);
  const shifts = await slices.run(followCalendar(schedule, rangeOf(at)));
  return slices.run(
    followIcalendar({
      name: stored.name,
      made_at: at.now,
      shifts: shifts.map((shift) => ({
        ...shift,
        schedule: stored,
        email: emailOf(shift.account_id) ?? "somebody who was removed",
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
  const read = own.map((stored) => ({ stored, ...readStored(reader, stored) }));
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

interface Read {
  schedule: Schedule;
  emailOf(account: string): string | undefined;
  away: ReturnType<typeof timesAway>;
}

const readStored = (reader: Reader, stored: StoredSchedule): Read =>
  readAll(reader, { ...stored, overrides: listOverrides(reader, stored) });

/** The schedule as it is evaluated, and the email of each account it names that still exists. */
function readAll(
  reader: Reader,
  { timezone, layers, overrides, covers = "always" }: DraftSchedule,
): Read {
  const holidays = holidayDays(reader, layers);
  const schedule: Schedule = { timezone, layers, overrides, covers, holidays };
  const named = new Set([
    ...peopleOfLayers(layers),
    ...overrides.map((override) => override.account_id),
  ]);
  const rows = reader.orm
    .select({ id: accounts.id, email: accounts.email })
    .from(accounts)
    .where(sql`${accounts.id} IN (SELECT value FROM json_each(${JSON.stringify([...named])}))`)
    .all();
  const emails = new Map(rows.map(({ id, email }) => [id, email]));
  return {
    schedule,
    emailOf: (account: string) => emails.get(account),
    away: timesAway(reader, named),
  };
}
