import { inArray } from "drizzle-orm";
import { holidays } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { HolidayDays, Layer } from "./schedule.ts";
import { DAY } from "./zone.ts";

/** The holidays that layers name, as a schedule is followed with. */

const NONE: HolidayDays = new Map();

/** The days of the calendars that these layers name. */
export function holidayDays(reader: Reader, layers: readonly Layer[]): HolidayDays {
  const named = new Set(layers.flatMap(({ restriction }) => restriction?.holidays?.calendar ?? []));
  if (named.size === 0) return NONE;
  const rows = reader.orm
    .select({ name: holidays.name, dates: holidays.dates })
    .from(holidays)
    .where(inArray(holidays.name, [...named]))
    .all();
  return new Map(
    rows.map(({ name, dates }) => [
      name,
      new Set(dates.map(({ date }) => Date.parse(date) / 1000 / DAY)),
    ]),
  );
}

/** The calendars that layers name and that there aren't, as faults of their fields. */
export function unknownCalendars(reader: Reader, layers: readonly Layer[]) {
  const known = holidayDays(reader, layers);
  return layers.flatMap(({ restriction }, i) => {
    const calendar = restriction?.holidays?.calendar;
    if (calendar === undefined || known.has(calendar)) return [];
    return [
      {
        field: `/layers/${i}/restriction/holidays/calendar`,
        reason: "there are no holidays of this name",
        value: calendar,
      },
    ];
  });
}
