import { z } from "zod";
import { changeSchedule, removeSchedule } from "../../../core/alerts/schedule-change.ts";
import {
  type Asking,
  calendarOf,
  currentOnCall,
  previewOnCall,
} from "../../../core/oncall/answers.ts";
import { createOverride, deleteOverride, listOverrides } from "../../../core/oncall/overrides.ts";
import {
  currentAnswer,
  overrideAnswer,
  overrideReadOnly,
  overrideWrite,
  previewAnswer,
  type StoredSchedule,
  scheduleReadOnly,
  scheduleShown,
  scheduleWrite,
} from "../../../core/oncall/schedule.ts";
import {
  createSchedule,
  getSchedule,
  listSchedules,
  listSharedSchedules,
} from "../../../core/oncall/schedules.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { createReachable } from "../../../out/paging/reachable.ts";
import { contactKindList } from "../../../out/services/list.ts";
import { namedPeople } from "../../../people/named.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { deleted, projectPath, queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

const BASE = "/v1/projects/{id}/oncall/schedules";
const schedulePath = z.strictObject({ id: z.string(), sid: z.string() });

const withPeople = (reader: Reader, schedule: StoredSchedule) => ({
  ...schedule,
  people: namedPeople(
    reader,
    schedule.layers.flatMap(({ participants }) => participants),
  ),
});

const DAY = 86_400;
const writeErrors = [
  "invalid_request",
  "invalid_json",
  "not_found",
  "name_taken",
  "not_a_member",
  "invalid_timezone",
  "invalid_layer",
  "schedule_too_complex",
  "too_many",
] as const;

function find(reader: Reader, params: { id: string; sid: string }) {
  return getSchedule(reader, getProject(reader, params.id), params.sid);
}

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

/** contract §15, On-call, and the additive preview and calendar of contract §5. */
export const oncallRoutes: Route[] = [
  route({
    method: "GET",
    path: BASE,
    name: "listSchedules",
    tag: "On-call",
    summary: "The project's schedules, by name",
    plane: "api",
    params: projectPath,
    query: z.strictObject({
      shared: z.literal("true").optional().meta({
        description: "Additive: those of other projects that this one's ladders may name follow.",
      }),
    }),
    status: 200,
    answer: z.object({ schedules: z.array(scheduleShown) }),
    errors: ["not_found"],
    handle: ({ tenant, params, query }) => {
      const project = getProject(tenant.store, params.id);
      const shared = query.shared ? listSharedSchedules(tenant.store, project) : [];
      const schedules = [...listSchedules(tenant.store, project), ...shared];
      return { schedules: schedules.map((schedule) => withPeople(tenant.store, schedule)) };
    },
  }),
  route({
    method: "POST",
    path: BASE,
    name: "createSchedule",
    tag: "On-call",
    summary: "Create a schedule",
    plane: "api",
    params: projectPath,
    body: scheduleWrite,
    people: ["layers.*.participants.*"],
    readOnly: [...scheduleReadOnly, "people"],
    status: 201,
    answer: scheduleShown,
    errors: writeErrors,
    handle: ({ tenant: { store }, params, body }) =>
      withPeople(
        store,
        store.write((tx) => createSchedule(tx, getProject(tx, params.id), body)),
      ),
  }),
  route({
    method: "GET",
    path: `${BASE}/{sid}`,
    name: "getSchedule",
    tag: "On-call",
    summary: "One schedule, by name",
    plane: "api",
    params: schedulePath,
    status: 200,
    answer: scheduleShown,
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) => withPeople(store, find(store, params)),
  }),
  route({
    method: "PUT",
    path: `${BASE}/{sid}`,
    name: "replaceSchedule",
    tag: "On-call",
    summary: "Replace a schedule; a new name is changed in the ladders that name it",
    plane: "api",
    params: schedulePath,
    body: scheduleWrite,
    people: ["layers.*.participants.*"],
    readOnly: [...scheduleReadOnly, "people"],
    status: 200,
    answer: scheduleShown,
    errors: [...writeErrors, "schedule_in_use"],
    handle: ({ tenant, params, body }) =>
      withPeople(
        tenant.store,
        tenant.store.write((tx) =>
          changeSchedule(tx, getProject(tx, params.id), { name: params.sid, to: body }),
        ),
      ),
  }),
  route({
    method: "DELETE",
    path: `${BASE}/{sid}`,
    name: "deleteSchedule",
    tag: "On-call",
    summary: "Delete a schedule that neither a ladder nor the fallback names",
    plane: "api",
    params: schedulePath,
    status: 200,
    answer: deleted,
    errors: ["not_found", "schedule_in_use"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => removeSchedule(tx, getProject(tx, params.id), params.sid));
      return { deleted: true };
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/{sid}/current`,
    name: "currentOnCall",
    tag: "On-call",
    summary: "Who is on call now, or who is next",
    plane: "api",
    params: schedulePath,
    status: 200,
    answer: currentAnswer,
    errors: ["not_found"],
    async handle({ tenant, params }) {
      const { store, clock } = tenant;
      const schedule = find(store, params);
      const current = await currentOnCall(asking(tenant), schedule, unixSeconds(clock));
      if (!current.on_call) return current;
      const reachable = createReachable(store, contactKindList);
      if (!reachable.isKnown) return current;
      const of = { projectId: getProject(store, params.id).id, level: Number.POSITIVE_INFINITY };
      return { ...current, reached: reachable.reaches(current.account_id, of) };
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/{sid}/preview`,
    name: "previewSchedule",
    tag: "On-call",
    summary: "Shifts and gaps of a range (default: 14 days from now; at most 366 days)",
    plane: "api",
    additive: true,
    params: schedulePath,
    query: z.strictObject({
      from: queryInteger(0, 100_000_000_000).optional(),
      until: queryInteger(0, 100_000_000_000).optional(),
    }),
    status: 200,
    answer: previewAnswer,
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) =>
      previewOnCall(
        asking(tenant),
        find(tenant.store, params),
        previewRange(query, unixSeconds(tenant.clock)),
      ),
  }),
  route({
    method: "GET",
    path: `${BASE}/{sid}/calendar.ics`,
    name: "scheduleCalendar",
    tag: "On-call",
    summary: "The schedule as iCalendar: 30 days back, 180 ahead",
    plane: "api",
    additive: true,
    params: schedulePath,
    status: 200,
    answer: z.string(),
    errors: ["not_found"],
    handle: async ({ tenant, params }) => {
      const now = unixSeconds(tenant.clock);
      return new Response(
        await calendarOf(asking(tenant), find(tenant.store, params), { now, today: now }),
        {
          headers: {
            "content-type": "text/calendar; charset=utf-8",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
          },
        },
      );
    },
  }),
  route({
    method: "GET",
    path: `${BASE}/{sid}/overrides`,
    name: "listOverrides",
    tag: "On-call",
    summary: "The schedule's overrides, past and future",
    plane: "api",
    params: schedulePath,
    status: 200,
    answer: z.object({ overrides: z.array(overrideAnswer) }),
    errors: ["not_found"],
    handle({ tenant: { store }, params }) {
      const overrides = listOverrides(store, find(store, params));
      const ids = overrides.map((one) => one.account_id);
      const emails = new Map(namedPeople(store, ids).map((one) => [one.account_id, one.email]));
      const emailOf = (id: string) => emails.get(id) ?? null;
      return { overrides: overrides.map((one) => ({ ...one, email: emailOf(one.account_id) })) };
    },
  }),
  route({
    method: "POST",
    path: `${BASE}/{sid}/overrides`,
    name: "createOverride",
    tag: "On-call",
    summary: "Put somebody on call for a while; starts now when starts_at is left out",
    plane: "api",
    params: schedulePath,
    body: overrideWrite,
    people: ["account_id"],
    readOnly: overrideReadOnly,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["invalid_request", "invalid_json", "not_found", "not_a_member", "invalid_override"],
    handle: ({ tenant, params, body, actor }) =>
      tenant.store.write((tx) =>
        createOverride(tx, find(tx, params), {
          accountId: body.account_id,
          startsAt: body.starts_at,
          endsAt: body.ends_at,
          createdBy: actor.accountId,
        }),
      ),
  }),
  route({
    method: "DELETE",
    path: `${BASE}/{sid}/overrides/{oid}`,
    name: "deleteOverride",
    tag: "On-call",
    summary: "Delete an override",
    plane: "api",
    params: z.strictObject({ id: z.string(), sid: z.string(), oid: z.string() }),
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteOverride(tx, find(tx, params), params.oid));
      return { deleted: true };
    },
  }),
];
