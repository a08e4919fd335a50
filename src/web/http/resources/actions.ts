import { z } from "zod";
import {
  actionAnswer,
  actionReadOnly,
  actionWrite,
  listedAction,
} from "../../../core/projects/action.ts";
import {
  createAction,
  deleteAction,
  getAction,
  getActionRow,
  listActions,
  mustHaveRun,
  replaceAction,
} from "../../../core/projects/actions.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { hexIdField } from "../../../ground/kit/fields.ts";
import { executionAnswer, listExecutions } from "../../../out/outbox/rows.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import { deleted, projectPath, queryInteger, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const actionPath = z.strictObject({ id: z.string(), aid: hexIdField });

const writeErrors = [
  ...(["invalid_request", "invalid_json", "address_refused", "not_found", "name_taken"] as const),
];

/** contract §15, Actions. */
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
    answer: z.object({ actions: z.array(listedAction) }),
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
    body: actionWrite,
    readOnly: actionReadOnly,
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
    answer: actionAnswer,
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params }) =>
      getAction(tenant.store, getProject(tenant.store, params.id), params.aid),
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/actions/{aid}",
    name: "replaceAction",
    tag: "Actions",
    summary:
      "Replace a runbook action; enabled, headers and body are kept when omitted, headers and body at the same server alone",
    plane: "api",
    params: actionPath,
    body: actionWrite,
    readOnly: actionReadOnly,
    status: 200,
    answer: updated,
    errors: [...writeErrors, "missing_credential"],
    handle: ({ tenant, params, body: write }) => {
      tenant.store.write((tx) =>
        replaceAction(tx, getProject(tx, params.id), {
          id: params.aid,
          write,
          guard: guardOf(tenant),
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
    answer: z.object({ executions: z.array(executionAnswer) }),
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
    deed: true,
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
