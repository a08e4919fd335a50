import * as z from "zod";
import {
  deleteHolidays,
  getHolidays,
  holidaysAnswer,
  holidaysName,
  holidaysWrite,
  listHolidays,
  putHolidays,
} from "../../../core/oncall/holidays.ts";
import { check } from "../../../ground/kit/check.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const holidays = routesIn(inTenant, { at: "/holidays", tag: "On-call", additive: true });

/** Calendars of days that layers of schedules may leave out, or take alone. */
export const holidayRoutes: Route[] = [
  holidays.get("", {
    name: "listHolidays",
    summary: "The tenant's holidays, by name",
    answer: z.object({ holidays: z.array(holidaysAnswer) }),
    read: (store) => ({ holidays: listHolidays(store) }),
  }),
  holidays.get("/{name}", {
    name: "getHolidays",
    summary: "The days of one calendar, and the schedules that name it",
    answer: holidaysAnswer,
    read: (store, { params }) => getHolidays(store, params.name),
  }),
  holidays.put("/{name}", {
    name: "putHolidays",
    summary:
      "Make or replace a calendar of days; schedules whose layers name it go by it at once. At most 1,000 days and 100 calendars",
    manager: true,
    makes: true,
    body: holidaysWrite,
    reads: holidaysAnswer,
    answer: holidaysAnswer,
    errors: ["too_many"],
    write: (tx, { params, body }) => putHolidays(tx, checkedName(params.name), body),
  }),
  holidays.delete("/{name}", {
    name: "deleteHolidays",
    summary: "Delete a calendar that no layer names",
    manager: true,
    errors: ["holidays_in_use"],
    write: (tx, { params }) => deleteHolidays(tx, params.name),
  }),
];

const checkedName = (name: string): string =>
  check(z.object({ name: holidaysName }), { name }, "path").name;
