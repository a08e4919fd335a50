import { asc, eq, sql } from "drizzle-orm";
import * as z from "zod";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { list, pathName, text } from "../../ground/kit/fields.ts";
import type { Holiday } from "../../ground/store/columns.ts";
import { holidays, projects, schedules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { calendarDays } from "./busy-days.ts";
import { lookAtShifts } from "./shift-checks.ts";
import { DAY } from "./zone.ts";

/** Calendars of days by name, which layers may leave out or take alone: as they are written and read over the interface. */

export const holidaysName = pathName(128);
const MOST_HOLIDAYS = 1000;
export const MOST_HOLIDAY_CALENDARS = 100;

const isDate = (date: string): boolean =>
  Number.isFinite(Date.parse(date)) && dateOfDay(Date.parse(date) / 1000 / DAY) === date;

const dateOfDay = (day: number): string => new Date(day * DAY * 1000).toISOString().slice(0, 10);

const date = text(10, 10).refine((one) => /^\d{4}-\d\d-\d\d$/.test(one) && isDate(one), {
  error: "must be a date, as 2026-12-25",
});
const holiday = z.strictObject({ date, name: text(200).default("") });

/** A date alone, or with its name. */
export const holidayDates = list(
  z.union([date.transform((one) => ({ date: one, name: "" })), holiday], {
    error: "must be a date, as 2026-12-25, alone or with a name",
  }),
  MOST_HOLIDAYS,
);

/** The body that makes or replaces a calendar: days, or an iCalendar file that is read once. */
export const holidaysWrite = z
  .strictObject({
    dates: holidayDates.optional(),
    ical: text(100_000, 1).optional().meta({
      description:
        "The text of an iCalendar file: its days from last year to five years ahead are imported.",
    }),
  })
  .refine(({ dates, ical }) => (dates === undefined) !== (ical === undefined), {
    error: "needs dates or ical, and not both",
  })
  .meta({ id: "HolidaysWrite" });

export const holidaysAnswer = z
  .object({
    name: z.string(),
    dates: z
      .array(z.object({ date: z.string(), name: z.string() }))
      .meta({ description: "By date." }),
    schedules: z.array(z.string()).meta({
      description: "Whose layers name it, as {project}/{schedule}.",
    }),
    updated_at: z.int(),
  })
  .meta({ id: "Holidays" });
export type HolidaysAnswer = z.output<typeof holidaysAnswer>;

const columns = { name: holidays.name, dates: holidays.dates, updated_at: holidays.updatedAt };

const naming = (reader: Reader, name: string) =>
  reader.orm
    .select({ id: schedules.id, name: sql<string>`${projects.name} || '/' || ${schedules.name}` })
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(
      sql`EXISTS (SELECT 1 FROM json_each(${schedules.layers}) l
        WHERE l.value ->> '$.restriction.holidays.calendar' = ${name})`,
    )
    .orderBy(asc(projects.name), asc(schedules.name))
    .all();

export const listHolidays = (reader: Reader): HolidaysAnswer[] =>
  reader.orm
    .select(columns)
    .from(holidays)
    .orderBy(asc(holidays.name))
    .all()
    .map((row) => ({ ...row, schedules: naming(reader, row.name).map((one) => one.name) }));

export function getHolidays(reader: Reader, name: string): HolidaysAnswer {
  const found = listHolidays(reader).find((one) => one.name === name);
  if (found === undefined) throw notFound("holidays");
  return found;
}

/** Every schedule whose layers name it goes by the new days at once. Throws 400 and 422. */
export function putHolidays(
  tx: Tx,
  name: string,
  { dates, ical }: z.output<typeof holidaysWrite>,
): HolidaysAnswer {
  const known = tx.orm.select({ name: holidays.name }).from(holidays).all();
  if (known.length >= MOST_HOLIDAY_CALENDARS && !known.some((one) => one.name === name))
    throw new ServiceError(
      "too_many",
      `There are ${MOST_HOLIDAY_CALENDARS} holiday calendars, which is the most: delete one first.`,
    );
  const given = dates ?? daysOfFile(ical ?? "", tx.at);
  const to = { dates: sortedDates(given), updatedAt: tx.at };
  tx.orm
    .insert(holidays)
    .values({ name, ...to })
    .onConflictDoUpdate({ target: holidays.name, set: to })
    .run();
  for (const { id } of naming(tx, name)) lookAtShifts(tx, id);
  tx.note({ topic: "oncall" });
  return getHolidays(tx, name);
}

/** Each once, by date. */
export function sortedDates(dates: readonly Holiday[]): Holiday[] {
  const byDate = new Map(dates.map((one) => [one.date, one]));
  return [...byDate.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

const PAST = 366 * DAY;
const AHEAD = 5 * 366 * DAY;

function daysOfFile(ical: string, now: number): Holiday[] {
  const found = calendarDays(ical, { from: now - PAST, until: now + AHEAD });
  if (found === null)
    throw invalid([
      { field: "/ical", reason: "must be an iCalendar file: it begins with BEGIN:VCALENDAR" },
    ]);
  if (found.length === 0)
    throw invalid([{ field: "/ical", reason: "has no whole days from last year on" }]);
  if (found.length > MOST_HOLIDAYS)
    throw invalid([{ field: "/ical", reason: `must have at most ${MOST_HOLIDAYS} days` }]);
  return found.map(({ day, name }) => ({ date: dateOfDay(day), name }));
}

/** Throws 404, and 409 while a layer names it. */
export function deleteHolidays(tx: Tx, name: string): void {
  const { schedules: users } = getHolidays(tx, name);
  if (users.length > 0)
    throw new ServiceError(
      "holidays_in_use",
      `Schedules still name these holidays: ${users.slice(0, 10).join(", ")}.`,
      {
        details: users.slice(0, 100).map((one) => ({ reason: "names it", value: one })),
      },
    );
  tx.orm.delete(holidays).where(eq(holidays.name, name)).run();
}
