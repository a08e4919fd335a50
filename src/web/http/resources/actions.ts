import * as z from "zod";
import {
  actionAnswer,
  actionReplace,
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
import { hexIdField } from "../../../ground/kit/fields.ts";
import { queryLimit } from "../../../ground/kit/query-fields.ts";
import { executionAnswer, listExecutions } from "../../../out/outbox/rows.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const actions = routesIn(inProject, {
  at: "/actions",
  tag: "Actions",
  params: { aid: hexIdField },
});

/** contract §15, Actions. */
export const actionRoutes: Route[] = [
  actions.get("", {
    name: "listActions",
    summary: "The project's runbook actions, by name",
    answer: z.object({ actions: z.array(listedAction) }),
    read: (store, { project }) => ({ actions: listActions(store, project) }),
  }),
  actions.post("", {
    name: "createAction",
    summary: "Create a runbook action",
    body: actionWrite,
    reads: listedAction,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["address_refused", "name_taken", "too_many"],
    write: (tx, { tenant, project, body: write }) => ({
      id: createAction(tx, project, { write, guard: tenant }),
    }),
  }),
  actions.get("/{aid}", {
    name: "getAction",
    summary: "One runbook action, without its headers and body",
    answer: actionAnswer,
    read: (store, { project, params }) => getAction(store, project, params.aid),
  }),
  actions.put("/{aid}", {
    name: "replaceAction",
    summary:
      "Replace a runbook action; enabled, headers and body are kept when omitted, headers and body at the same server alone",
    body: actionReplace,
    reads: listedAction,
    errors: ["address_refused", "name_taken", "missing_credential"],
    write: (tx, { tenant, project, params, body: write }) =>
      replaceAction(tx, project, { id: params.aid, write, guard: tenant }),
  }),
  actions.delete("/{aid}", {
    name: "deleteAction",
    summary: "Delete a runbook action; its executions stay",
    errors: ["action_in_use"],
    write: (tx, { project, params }) => deleteAction(tx, project, params.aid),
  }),
  actions.get("/{aid}/executions", {
    name: "listExecutions",
    summary: "An action's runs, newest first, also after it was deleted",
    query: z.strictObject({ limit: queryLimit(500, 100) }),
    answer: z.object({ executions: z.array(executionAnswer) }),
    read: (store, { project, params: { aid }, query }) => {
      mustHaveRun(store, project, aid);
      const of = { projectId: project.id, actionId: aid };
      return { executions: listExecutions(store, of, query.limit) };
    },
  }),
  actions.post("/{aid}/test", {
    name: "testAction",
    summary: "Run an action once, at once, as an alert would; leaves one execution",
    auditAlways: true,
    answer: z.object({ ok: z.boolean(), status_code: z.int(), error: z.string().optional() }),
    errors: ["action_disabled", "overloaded"],
    handle: ({ tenant, project, params }) =>
      tenant.outbox.testFire.action(getActionRow(tenant.store, project, params.aid)),
  }),
];
