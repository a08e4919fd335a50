import { z } from "zod";
import { listCalendars, makeCalendar, revokeCalendar } from "../../../core/oncall/calendars.ts";
import { type CalendarEntry, calendarEntry, calendarWrite } from "../../../core/oncall/schedule.ts";
import { mustBeOwnOrGoverned } from "../../../out/contacts/contacts.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { CALENDAR } from "../calendar.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const BASE = "/v1/accounts/{account}/calendars";
const common = { plane: "api", tag: "On-call", additive: true } as const;
const personErrors = ["forbidden", "not_found"] as const;

const withAddress = ({ publicUrl }: Tenant, entry: CalendarEntry, secret: string) => ({
  ...entry,
  calendar_url: `${publicUrl}${CALENDAR}/${secret}.ics`,
});

const accountOf = ({ account }: { account: string }, actor: { accountId: string }): string =>
  account === "me" ? actor.accountId : account;

/** Secret addresses for calendar programs (contract §5, On-call). */
export const calendarRoutes: Route[] = [
  route({
    ...common,
    method: "GET",
    path: BASE,
    name: "listCalendars",
    summary: "A person's calendar addresses, without their secrets; `me` stands for oneself",
    params: z.strictObject({ account: z.string() }),
    status: 200,
    answer: z.object({ calendars: z.array(calendarEntry) }),
    errors: personErrors,
    handle({ tenant: { store }, actor, params }) {
      const account = accountOf(params, actor);
      mustBeOwnOrGoverned(store, actor.accountId, account);
      return { calendars: listCalendars(store, account) };
    },
  }),
  route({
    ...common,
    method: "POST",
    path: BASE,
    name: "makeCalendar",
    summary:
      "Make a secret address that calendar programs follow; where the person has one for the same, it is replaced",
    params: z.strictObject({ account: z.string() }),
    body: calendarWrite,
    status: 201,
    answer: calendarEntry.extend({
      calendar_url: z.string().meta({ description: "Shown this once." }),
    }),
    errors: [...personErrors, "invalid_request", "invalid_json", "unknown_schedule", "too_many"],
    handle({ tenant, actor, params, body }) {
      const account = accountOf(params, actor);
      const { entry, secret } = tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, account);
        return makeCalendar(tx, account, body);
      });
      return withAddress(tenant, entry, secret);
    },
  }),
  route({
    ...common,
    method: "DELETE",
    path: `${BASE}/{calendar}`,
    name: "revokeCalendar",
    summary: "Revoke a calendar address",
    params: z.strictObject({ account: z.string(), calendar: z.string() }),
    status: 200,
    answer: deleted,
    errors: personErrors,
    handle({ tenant, actor, params }) {
      const account = accountOf(params, actor);
      tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, account);
        revokeCalendar(tx, account, params.calendar);
      });
      return { deleted: true };
    },
  }),
];
