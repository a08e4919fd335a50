import { z } from "zod";
import { listExecutions } from "../../outbox/rows.ts";
import {
  actionEvents,
  createAction,
  deleteAction,
  getAction,
  getActionRow,
  listActions,
  mustHaveRun,
  replaceAction,
} from "../../projects/actions.ts";
import { getProject } from "../../projects/projects.ts";
import {
  deleted,
  flag,
  hexId,
  integer,
  list,
  projectPath,
  queryInteger,
  text,
  updated,
} from "../fields.ts";
import { type Route, route } from "../route.ts";
import { guardOf } from "./integrations.ts";

const actionPath = z.strictObject({ id: z.string(), aid: hexId });

export const actionMethod = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"], {
  error: "must be one of GET, POST, PUT, PATCH, DELETE",
});
export const actionEvent = z.enum(actionEvents, {
  error: `must be one of ${actionEvents.join(", ")}`,
});

const headers = z
  .record(z.string(), z.string({ error: "must be a string" }), { error: "must be an object" })
  .refine((value) => Object.keys(value).length <= 32, { error: "must have at most 32 headers" })
  .meta({ maxProperties: 32 });

const body = z.strictObject({
  name: text(128, 1),
  method: actionMethod,
  url: text(2048, 1),
  headers: headers.optional().meta({ description: "Kept when omitted; sealed at rest." }),
  body: text(8192).optional().meta({ description: "Kept when omitted; empty = none." }),
  enabled: flag.optional().meta({ description: "Kept when omitted." }),
  events: list(actionEvent, 2).optional(),
  timeout_seconds: integer(0, 60).optional().meta({ description: "0 = 10 seconds." }),
});
const readOnly = ["id", "project", "header_keys", "has_body", "event_filter", "created_at"];

const action = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    method: actionMethod,
    url: z.string(),
    header_keys: z.array(z.string()),
    has_body: z.boolean(),
    enabled: z.boolean(),
    events: z.array(actionEvent),
    event_filter: z.string(),
    timeout_seconds: z.int(),
    created_at: z.int(),
  })
  .meta({ id: "Action" });

const listed = action
  .extend({
    headers: z.literal("-").optional(),
    body: z.literal("-").optional(),
  })
  .meta({ id: "ListedAction" });

const execution = z
  .object({
    id: z.string(),
    action_id: z.string(),
    alert_id: z.string(),
    event: z.string(),
    status: z.enum(["pending", "succeeded", "failed", "timed_out"]),
    attempts: z.int(),
    status_code: z.int().nullable(),
    duration_ms: z.int().nullable(),
    response_prefix: z.string(),
    error: z.string(),
    executed_at: z.int().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "Execution" });

const writeErrors = [
  ...(["invalid_request", "invalid_json", "address_refused", "not_found", "name_taken"] as const),
];

/** api §4, Actions. */
export const actionRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/actions",
    name: "listActions",
    tag: "Actions",
    summary: "The project's runbook actions, by name",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ actions: z.array(listed) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      actions: listActions(tenant.store, getProject(tenant.store, params.id)),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/actions",
    name: "createAction",
    tag: "Actions",
    summary: "Create a runbook action",
    plane: "api",
    params: projectPath,
    body,
    readOnly,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: [...writeErrors, "too_many"],
    handle: ({ tenant, params, body: write }) => ({
      id: tenant.store.write((tx) =>
        createAction(tx, getProject(tx, params.id), { write, guard: guardOf(tenant) }),
      ),
    }),
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/actions/{aid}",
    name: "getAction",
    tag: "Actions",
    summary: "One runbook action, without its headers and body",
    plane: "api",
    params: actionPath,
    status: 200,
    answer: action,
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params }) =>
      getAction(tenant.store, getProject(tenant.store, params.id), params.aid),
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/actions/{aid}",
    name: "replaceAction",
    tag: "Actions",
    summary: "Replace a runbook action; enabled, headers and body are kept when omitted",
    plane: "api",
    params: actionPath,
    body,
    readOnly,
    status: 200,
    answer: updated,
    errors: writeErrors,
    handle: ({ tenant, params, body: write }) => {
      tenant.store.write((tx) =>
        replaceAction(tx, getProject(tx, params.id), {
          ...{ id: params.aid, write, guard: guardOf(tenant) },
        }),
      );
      return { updated: true };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/actions/{aid}",
    name: "deleteAction",
    tag: "Actions",
    summary: "Delete a runbook action; its executions stay",
    plane: "api",
    params: actionPath,
    status: 200,
    answer: deleted,
    errors: ["invalid_request", "not_found", "action_in_use"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteAction(tx, getProject(tx, params.id), params.aid));
      return { deleted: true };
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/actions/{aid}/executions",
    name: "listExecutions",
    tag: "Actions",
    summary: "An action's runs, newest first, also after it was deleted",
    plane: "api",
    params: actionPath,
    query: z.strictObject({ limit: queryInteger(1, 500).default(100) }),
    status: 200,
    answer: z.object({ executions: z.array(execution) }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) => {
      const project = getProject(tenant.store, params.id);
      mustHaveRun(tenant.store, project, params.aid);
      const of = { projectId: project.id, actionId: params.aid };
      return { executions: listExecutions(tenant.store, of, query.limit) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/actions/{aid}/test",
    name: "testAction",
    tag: "Actions",
    summary: "Run an action once, at once, as an alert would; leaves one execution",
    plane: "api",
    params: actionPath,
    status: 200,
    answer: z.object({ ok: z.boolean(), status_code: z.int(), error: z.string().optional() }),
    errors: ["invalid_request", "not_found", "action_disabled", "overloaded"],
    handle: ({ tenant, params }) =>
      tenant.outbox.testFire.action(
        getActionRow(tenant.store, getProject(tenant.store, params.id), params.aid),
      ),
  }),
];
