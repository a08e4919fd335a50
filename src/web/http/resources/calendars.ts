import * as z from "zod";
import { listCalendars, makeCalendar, revokeCalendar } from "../../../core/oncall/calendars.ts";
import { type CalendarEntry, calendarEntry, calendarWrite } from "../../../core/oncall/schedule.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { CALENDAR } from "../calendar.ts";
import type { Route } from "../route.ts";
import { ofAccount, routesIn } from "../scope.ts";

const calendars = routesIn(ofAccount, { at: "/calendars", tag: "On-call", additive: true });

const withAddress = ({ publicUrl }: Tenant, entry: CalendarEntry, secret: string) => ({
  ...entry,
  calendar_url: `${publicUrl}${CALENDAR}/${secret}.ics`,
});

/** Secret addresses for calendar programs (contract §5, On-call). */
export const calendarRoutes: Route[] = [
  calendars.get("", {
    name: "listCalendars",
    summary: "A person's calendar addresses, without their secrets; `me` is the caller",
    answer: z.object({ calendars: z.array(calendarEntry) }),
    read: (store, { account }) => ({ calendars: listCalendars(store, account) }),
  }),
  calendars.post("", {
    name: "makeCalendar",
    summary:
      "Make a secret address for calendar programs; an earlier one of the person for the same calendar stops working",
    body: calendarWrite,
    status: 201,
    answer: calendarEntry.extend({
      calendar_url: z.string().meta({ description: "Shown this once." }),
    }),
    errors: ["unknown_schedule", "too_many"],
    handle: ({ tenant, body, account }) => {
      const { entry, secret } = tenant.store.write((tx) => makeCalendar(tx, account, body));
      return withAddress(tenant, entry, secret);
    },
  }),
  calendars.delete("/{calendar}", {
    name: "revokeCalendar",
    summary: "Revoke a calendar address",
    write: (tx, { params, account }) => revokeCalendar(tx, account, params.calendar),
  }),
];
