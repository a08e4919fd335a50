import * as z from "zod";
import { alertAnswer } from "../../../core/alerts/alert.ts";
import { assignAlert, assignWrite } from "../../../core/alerts/assign.ts";
import { addNote, changeNote, noteWrite } from "../../../core/alerts/notes.ts";
import { toAlert } from "../../../core/alerts/shown.ts";
import { escalateNow, runForAlert, unacknowledge } from "../../../core/alerts/verbs.ts";
import { hexIdField } from "../../../ground/kit/fields.ts";
import type { Route } from "../route.ts";
import { ofAlert, routesIn } from "../scope.ts";

const alert = routesIn(ofAlert, {
  tag: "Alerts",
  additive: true,
  params: { aid: hexIdField },
});

/** What else is done to an alert (contract §31). */
export const alertVerbRoutes: Route[] = [
  alert.post("/unack", {
    name: "unacknowledgeAlert",
    summary: "Remove an acknowledgement: the ladder continues after the delay that was left",
    answer: alertAnswer,
    errors: ["alert_resolved"],
    write: (tx, { alert, actor }) => toAlert(tx, unacknowledge(tx, alert, actor.accountId)),
  }),
  alert.post("/escalate", {
    name: "escalateAlert",
    summary: "Run the ladder's next rung at once",
    answer: alertAnswer,
    errors: ["alert_resolved", "ladder_over"],
    write: (tx, { alert, actor }) => toAlert(tx, escalateNow(tx, alert, actor.accountId)),
  }),
  alert.post("/assign", {
    name: "assignAlert",
    summary:
      "Page these people, or the people on call in these schedules, now, and assign the alert to them",
    body: assignWrite,
    people: ["accounts.*"],
    answer: alertAnswer,
    errors: ["alert_resolved", "not_a_member", "unknown_schedule", "nobody_on_call"],
    write: (tx, { alert, body: assign, actor: { accountId: by } }) =>
      toAlert(tx, assignAlert(tx, alert, { by, assign })),
  }),
  alert.post("/actions/{aid}/run", {
    name: "runActionForAlert",
    summary:
      "Run a runbook action for an alert, again or for the first time, with the alert's latest event",
    status: 201,
    answer: z.object({ execution_id: z.string() }),
    errors: ["alert_resolved", "action_disabled", "action_not_runnable"],
    write: (tx, { alert, params, actor: { accountId } }) => ({
      execution_id: runForAlert(tx, alert, { actionId: params.aid, accountId }),
    }),
  }),
  alert.post("/notes", {
    name: "addNote",
    summary: "Add a note to an alert's timeline",
    body: noteWrite,
    status: 201,
    answer: z.object({ id: z.string() }),
    write: (tx, { alert, body, actor: { accountId } }) => ({
      id: addNote(tx, alert, { accountId, text: body.text }),
    }),
  }),
  alert.put("/notes/{nid}", {
    name: "changeNote",
    summary: "Change a note: only its author, for five minutes",
    body: noteWrite,
    errors: ["forbidden", "note_closed"],
    write: (tx, { alert: alertId, params: { nid: noteId }, body, actor: { accountId } }) =>
      changeNote(tx, { alertId, noteId, accountId }, body.text),
  }),
  alert.delete("/notes/{nid}", {
    name: "deleteNote",
    summary: "Remove a note's text: only its author, for five minutes",
    errors: ["forbidden", "note_closed"],
    write: (tx, { alert: alertId, params: { nid: noteId }, actor: { accountId } }) =>
      changeNote(tx, { alertId, noteId, accountId }, null),
  }),
];
