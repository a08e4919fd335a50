import * as z from "zod";
import { changeSchedule, removeSchedule } from "../../../core/alerts/schedule-change.ts";
import {
  type Asking,
  calendarOf,
  currentOnCall,
  previewOnCall,
} from "../../../core/oncall/answers.ts";
import { askWrite, makeAsk } from "../../../core/oncall/asks.ts";
import { gridFault, gridOnCall, mostOfGrid } from "../../../core/oncall/grid.ts";
import { createOverride, deleteOverride, listOverrides } from "../../../core/oncall/overrides.ts";
import {
  currentAnswer,
  gridAnswer,
  overrideAnswer,
  overrideWrite,
  peopleOfLayers,
  previewAnswer,
  type StoredSchedule,
  scheduleShown,
  scheduleWrite,
} from "../../../core/oncall/schedule.ts";
import {
  createSchedule,
  getSchedule,
  listSchedules,
  listSharedSchedules,
} from "../../../core/oncall/schedules.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { queryInteger } from "../../../ground/kit/query-fields.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { createReachable } from "../../../out/paging/reachable.ts";
import { namedPeople } from "../../../people/named.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { inProject, inTenant, routesIn, scopeBelow } from "../scope.ts";

const oncall = routesIn(inTenant, { at: "/oncall", tag: "On-call", additive: true });
const schedules = routesIn(inProject, { at: "/oncall/schedules", tag: "On-call" });
const ofSchedule = scopeBelow(
  inProject,
  "/oncall/schedules/{sid}",
  (reader, { project, params }) => ({
    schedule: getSchedule(reader, project, params.sid),
  }),
);
const schedule = routesIn(ofSchedule, { tag: "On-call" });

const withPeople = (reader: Reader, schedule: StoredSchedule) => ({
  ...schedule,
  people: namedPeople(reader, peopleOfLayers(schedule.layers)),
});

const DAY = 86_400;
const writeErrors = [
  "name_taken",
  "not_a_member",
  "invalid_timezone",
  "invalid_layer",
  "schedule_too_complex",
  "too_many",
] as const;

export const asking = ({ store, slices }: Tenant): Asking => ({ reader: store, slices });

/** What is asked for, else 14 days from now. Throws 400 naming the field, `field` being how it is called. */
export function previewRange(
  query: { from?: number | undefined; until?: number | undefined },
  now: number,
  field = "?until",
): { from: number; until: number } {
  const from = query.from ?? now;
  const until = query.until ?? from + 14 * DAY;
  if (until <= from) throw invalid([{ field, reason: "must be later than from" }]);
  if (until - from > 366 * DAY)
    throw invalid([{ field, reason: "must be at most 366 days after from" }]);
  return { from, until };
}

const instant = queryInteger(0, 100_000_000_000);
const begins = instant.optional().describe("Unix seconds. Default: now.");
const ends = instant.optional().describe("Unix seconds, not included.");

/** What is asked for, else 7 days from now. Throws 400. */
function gridRange({ from = 0, to }: { from?: number | undefined; to?: number | undefined }) {
  const range = { from, until: to ?? from + 7 * DAY };
  const fault = gridFault(range);
  if (fault !== null) throw invalid([{ field: "?to", reason: fault }]);
  return range;
}

/** contract §15, On-call, and the additive preview and calendar of contract §5. */
export const oncallRoutes: Route[] = [
  oncall.get("/grid", {
    name: "onCallGrid",
    summary: `Final shifts of all schedules (default: 7 days from now; at most ${mostOfGrid.days} days, ${mostOfGrid.schedules} schedules)`,
    query: z.strictObject({ from: begins, to: ends }),
    answer: gridAnswer,
    handle: ({ tenant, query }) => {
      const range = gridRange({ ...query, from: query.from ?? unixSeconds(tenant.clock) });
      return gridOnCall(asking(tenant), range);
    },
  }),
  oncall.post("/asks", {
    name: "createAsk",
    summary:
      "Ask people to take a shift: your own or, as an owner or admin, anybody's. The first yes makes the override",
    body: askWrite,
    people: ["of.*"],
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["forbidden", "unknown_schedule", "invalid_ask", "not_a_member", "too_many"],
    write: (tx, { body, actor }) => makeAsk(tx, actor.accountId, body),
  }),
  schedules.get("", {
    name: "listSchedules",
    summary: "The project's schedules, by name",
    query: z.strictObject({
      shared: z.literal("true").optional().meta({
        description:
          "Also the shared schedules of other projects, which this project's ladders may name.",
      }),
    }),
    answer: z.object({ schedules: z.array(scheduleShown) }),
    read: (store, { query, project }) => {
      const shared = query.shared ? listSharedSchedules(store, project) : [];
      const schedules = [...listSchedules(store, project), ...shared];
      return { schedules: schedules.map((schedule) => withPeople(store, schedule)) };
    },
  }),
  schedules.post("", {
    name: "createSchedule",
    summary: "Create a schedule",
    body: scheduleWrite,
    reads: scheduleShown,
    people: ["layers.*.participants.*"],
    status: 201,
    answer: scheduleShown,
    errors: writeErrors,
    write: (tx, { project, body }) => withPeople(tx, createSchedule(tx, project, body)),
  }),
  schedule.get("", {
    name: "getSchedule",
    summary: "One schedule, by name",
    answer: scheduleShown,
    read: (store, { schedule }) => withPeople(store, schedule),
  }),
  schedule.put("", {
    name: "replaceSchedule",
    summary: "Replace a schedule; a new name is changed in the ladders that name it",
    body: scheduleWrite,
    reads: scheduleShown,
    people: ["layers.*.participants.*"],
    answer: scheduleShown,
    errors: [...writeErrors, "schedule_in_use"],
    write: (tx, { project, params, body: to }) =>
      withPeople(tx, changeSchedule(tx, project, { name: params.sid, to })),
  }),
  schedule.delete("", {
    name: "deleteSchedule",
    summary: "Delete a schedule that neither a ladder nor the fallback names",
    errors: ["schedule_in_use"],
    write: (tx, { project, params }) => removeSchedule(tx, project, params.sid),
  }),
  schedule.get("/current", {
    name: "currentOnCall",
    summary: "Who is on call now, or who is next",
    answer: currentAnswer,
    handle: async ({ tenant, project, schedule }) => {
      const { store, clock } = tenant;
      const current = await currentOnCall(asking(tenant), schedule, unixSeconds(clock));
      if (!current.on_call) return current;
      const reachable = createReachable(store);
      if (!reachable.isKnown) return current;
      const of = { projectId: project.id, level: Number.POSITIVE_INFINITY };
      const reached = (account: string) => reachable.reaches(account, of);
      return {
        ...current,
        accounts: current.accounts.map((one) => ({ ...one, reached: reached(one.account_id) })),
        reached: reached(current.account_id),
      };
    },
  }),
  schedule.get("/preview", {
    name: "previewSchedule",
    summary: "Shifts and gaps of a range (default: 14 days from now; at most 366 days)",
    additive: true,
    query: z.strictObject({ from: begins, until: ends }),
    answer: previewAnswer,
    handle: ({ tenant, schedule, query }) =>
      previewOnCall(asking(tenant), schedule, previewRange(query, unixSeconds(tenant.clock))),
  }),
  schedule.get("/calendar.ics", {
    name: "scheduleCalendar",
    summary: "The schedule as iCalendar: 30 days back, 180 ahead",
    additive: true,
    answer: z.string(),
    handle: async ({ tenant, schedule }) => {
      const now = unixSeconds(tenant.clock);
      return new Response(await calendarOf(asking(tenant), schedule, { now, today: now }), {
        headers: {
          "content-type": "text/calendar; charset=utf-8",
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      });
    },
  }),
  schedule.get("/overrides", {
    name: "listOverrides",
    summary: "The schedule's overrides, past and future",
    answer: z.object({ overrides: z.array(overrideAnswer) }),
    read: (store, { schedule }) => {
      const overrides = listOverrides(store, schedule);
      const ids = overrides.map((one) => one.account_id);
      const emails = new Map(namedPeople(store, ids).map((one) => [one.account_id, one.email]));
      const emailOf = (id: string) => emails.get(id) ?? null;
      return { overrides: overrides.map((one) => ({ ...one, email: emailOf(one.account_id) })) };
    },
  }),
  schedule.post("/overrides", {
    name: "createOverride",
    summary: "Put somebody on call for a while; starts now when starts_at is left out",
    body: overrideWrite,
    reads: overrideAnswer,
    people: ["account_id"],
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["not_a_member", "invalid_override"],
    write: (tx, { schedule, body, actor }) =>
      createOverride(tx, schedule, {
        accountId: body.account_id,
        startsAt: body.starts_at,
        endsAt: body.ends_at,
        createdBy: actor.accountId,
      }),
  }),
  schedule.delete("/overrides/{oid}", {
    name: "deleteOverride",
    summary: "Delete an override",
    write: (tx, { schedule, params }) => deleteOverride(tx, schedule, params.oid),
  }),
];
