import { z } from "zod";
import { type AlertRow, alertAnswer, alertId, toAlert } from "../../../core/alerts/alert.ts";
import { assignAlert, assignWrite } from "../../../core/alerts/assign.ts";
import { escalateNow } from "../../../core/alerts/escalate-now.ts";
import { addNote, changeNote, noteWrite } from "../../../core/alerts/notes.ts";
import { runForAlert } from "../../../core/alerts/run-action.ts";
import { unacknowledge } from "../../../core/alerts/unacknowledge.ts";
import { hexIdField } from "../../../ground/kit/fields.ts";
import type { Tx } from "../../../ground/store/store.ts";
import { deleted, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const alertPath = z.strictObject({ id: z.string() });
const notePath = z.strictObject({ id: z.string(), nid: z.string() });
const common = { tag: "Alerts", plane: "api", additive: true } as const;

/** A verb that takes nothing but the alert and who says it. */
function plainVerb(
  verb: { path: string; name: string; summary: string; errors: Route["errors"] },
  change: (tx: Tx, id: number, accountId: string) => AlertRow,
): Route {
  return route({
    ...common,
    method: "POST",
    name: verb.name,
    summary: verb.summary,
    path: `/v1/alerts/{id}/${verb.path}`,
    params: alertPath,
    status: 200,
    answer: alertAnswer,
    errors: ["not_found", ...verb.errors],
    handle: ({ tenant, params, actor }) =>
      toAlert(tenant.store.write((tx) => change(tx, alertId(params.id), actor.accountId))),
  });
}

/** What else is done to an alert (contract §31). */
export const alertVerbRoutes: Route[] = [
  plainVerb(
    {
      path: "unack",
      name: "unacknowledgeAlert",
      errors: ["alert_resolved"],
      summary: "Take an acknowledgement back: the ladder goes on after the wait it had left",
    },
    unacknowledge,
  ),
  plainVerb(
    {
      path: "escalate",
      name: "escalateAlert",
      errors: ["alert_resolved", "ladder_over"],
      summary: "Run the ladder's next rung at once",
    },
    escalateNow,
  ),
  route({
    ...common,
    method: "POST",
    path: "/v1/alerts/{id}/assign",
    name: "assignAlert",
    summary: "Page these people, or whoever schedules have on call, now: the alert is theirs",
    params: alertPath,
    body: assignWrite,
    people: ["accounts.*"],
    status: 200,
    answer: alertAnswer,
    errors: [
      ...(["invalid_request", "invalid_json", "not_found", "alert_resolved"] as const),
      ...(["not_a_member", "unknown_schedule", "nobody_on_call"] as const),
    ],
    handle: ({ tenant, params, body: assign, actor: { accountId: by } }) =>
      toAlert(tenant.store.write((tx) => assignAlert(tx, alertId(params.id), { by, assign }))),
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/alerts/{id}/actions/{aid}/run",
    name: "runActionForAlert",
    summary:
      "Run a runbook action for an alert, once more or for the first time, on its latest event",
    params: z.strictObject({ id: z.string(), aid: hexIdField }),
    status: 201,
    answer: z.object({ execution_id: z.string() }),
    errors: [
      ...(["invalid_request", "not_found", "alert_resolved"] as const),
      ...(["action_disabled", "action_not_runnable"] as const),
    ],
    handle: ({ tenant, params, actor: { accountId } }) => ({
      execution_id: tenant.store.write((tx) =>
        runForAlert(tx, alertId(params.id), { actionId: params.aid, accountId }),
      ),
    }),
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/alerts/{id}/notes",
    name: "addNote",
    summary: "Add a note to an alert's history",
    params: alertPath,
    body: noteWrite,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["invalid_request", "invalid_json", "not_found"],
    handle: ({ tenant, params, body, actor: { accountId } }) => ({
      id: tenant.store.write((tx) =>
        addNote(tx, alertId(params.id), { accountId, text: body.text }),
      ),
    }),
  }),
  route({
    ...common,
    method: "PUT",
    path: "/v1/alerts/{id}/notes/{nid}",
    name: "changeNote",
    summary: "Change a note: its author, for five minutes",
    params: notePath,
    body: noteWrite,
    status: 200,
    answer: updated,
    errors: ["invalid_request", "invalid_json", "forbidden", "not_found", "note_closed"],
    handle({ tenant, params, body, actor: { accountId } }) {
      const of = { alertId: alertId(params.id), noteId: params.nid, accountId };
      tenant.store.write((tx) => changeNote(tx, of, body.text));
      return { updated: true };
    },
  }),
  route({
    ...common,
    method: "DELETE",
    path: "/v1/alerts/{id}/notes/{nid}",
    name: "deleteNote",
    summary: "Take a note's text away: its author, for five minutes",
    params: notePath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found", "note_closed"],
    handle({ tenant, params, actor: { accountId } }) {
      const of = { alertId: alertId(params.id), noteId: params.nid, accountId };
      tenant.store.write((tx) => changeNote(tx, of, null));
      return { deleted: true };
    },
  }),
];
