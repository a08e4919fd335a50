import { alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import { assignAlert, assignWrite } from "../../../core/alerts/assign.ts";
import { addNote, noteWrite } from "../../../core/alerts/notes.ts";
import { LONGEST_SNOOZE, snooze } from "../../../core/alerts/verbs.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Form, FormDone, PageCall } from "../screen.ts";
import {
  type AlertAction,
  ackThem,
  liftThem,
  refuseMany,
  resolveThem,
  silenceThem,
  unackThem,
} from "./alert-actions.ts";
import { nameThem, pagedWords } from "./paged-words.ts";
import { span } from "./times.ts";

/** What is done to one alert at its own address and to many at the list's: the same forms. */

/** Which alerts a form is about, and where its page's forms lie. */
export type Whom = (
  call: PageCall,
  form: URLSearchParams,
  how: { seen: boolean },
) => AlertAction | Promise<AlertAction>;

/** The one of the address. Throws 404. */
export const thisAlert: Whom = (call) => {
  const { id } = getAlertRow(call.tenant.store, alertId(call.params["alert"] ?? ""));
  return { call, ids: [String(id)], path: `/a/${id}` };
};

/** What they are done to, at the list too: where its disk is full an alert is still handled. */
const target = "alert";

/** Hours that a form names, as seconds; an hour where it names none. */
function secondsIn(form: URLSearchParams): number {
  const hours = Number(form.get("hours") ?? 1);
  return Number.isFinite(hours) ? Math.round(Math.min(Math.max(hours, 0.25), 168) * 3600) : 3600;
}

const silenceIds = (form: URLSearchParams): string[] =>
  (form.get("silence") ?? "").split(",").filter(Boolean).slice(0, 200);

/** Forms by what stands behind the page's address. */
export function alertActionForms(whom: Whom): Record<string, Form> {
  const form = (
    verb: string,
    act: (action: AlertAction, fields: URLSearchParams) => FormDone | Promise<FormDone>,
  ): Form => {
    const how = { seen: verb === "acknowledgeAlert" };
    const action = (call: PageCall, fields: URLSearchParams) => whom(call, fields, how);
    return { verb, target, act: async (call, fields) => act(await action(call, fields), fields) };
  };
  return {
    ack: form("acknowledgeAlert", ackThem),
    unack: form("unacknowledgeAlert", unackThem),
    resolve: form("resolveAlert", (action, fields) => resolveThem(action, fields.has("anyway"))),
    silence: form("createSilence", (action, fields) =>
      silenceThem(action, {
        seconds: secondsIn(fields),
        reason: (fields.get("reason") ?? "").trim(),
        critical: fields.has("critical"),
      }),
    ),
    // It names silences, not alerts.
    unsilence: {
      verb: "deleteSilence",
      target,
      act: (call, fields) => liftThem({ call, ids: [], path: "" }, silenceIds(fields)),
    },
    snooze: form("snoozeAlert", snoozeThem),
    assign: form("assignAlert", assignThem),
    note: form("addNote", noteThem),
  };
}

function snoozeThem({ call, ids, path }: AlertAction, fields: URLSearchParams): FormDone {
  refuseMany(ids);
  const seconds = Math.min(secondsIn(fields), LONGEST_SNOOZE);
  const { store } = call.tenant;
  const { accountId } = call.who;
  for (const id of ids)
    store.write((tx) => snooze(tx, alertId(id), { until: call.now + seconds, accountId }));
  return {
    said: `You have ${nameThem(ids)} for ${span(seconds)}; then ${ids.length === 1 ? "it is" : "they are"} open again.`,
    undo: { action: `${path}/unack`, ...(path === "/alerts" && { fields: { id: ids.join(",") } }) },
  };
}

function assignThem({ call, ids }: AlertAction, fields: URLSearchParams): FormDone {
  refuseMany(ids);
  const accounts = fields.getAll("account").filter(Boolean);
  const schedules = fields.getAll("schedule").filter(Boolean);
  const assign = check(
    assignWrite,
    {
      ...(accounts.length > 0 && { accounts }),
      ...(schedules.length > 0 && { schedules }),
      keep_ladder: fields.has("keep_ladder"),
    },
    "body",
  );
  const { store } = call.tenant;
  const done: string[] = [];
  const others: { id: string; error: ServiceError }[] = [];
  for (const id of ids)
    try {
      store.write((tx) => assignAlert(tx, alertId(id), { by: call.who.accountId, assign }));
      done.push(id);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      others.push({ id, error });
    }
  // What goes for none of them is the form's fault.
  const [first] = others;
  if (done.length === 0 && first !== undefined) throw first.error;
  const not = others.map(({ id, error }) => ` Not #${id}: ${error.message}`).join("");
  return { said: `Assigned ${nameThem(done)}${pagedWords(call, done)}${not}` };
}

function noteThem({ call, ids }: AlertAction, fields: URLSearchParams): FormDone {
  refuseMany(ids);
  const { text } = check(noteWrite, { text: (fields.get("text") ?? "").trim() }, "body");
  const { accountId } = call.who;
  for (const id of ids)
    call.tenant.store.write((tx) => addNote(tx, alertId(id), { accountId, text }));
  return { said: `Noted on ${nameThem(ids)}.` };
}
