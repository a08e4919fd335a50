import {
  type ActionEvent,
  type ActionWrite,
  actionEvents,
  actionMethod,
  actionWrite,
  type ListedAction,
} from "../../../core/projects/action.ts";
import { createAction, replaceAction } from "../../../core/projects/actions.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import type { Form, PageCall } from "../screen.ts";
import { AGAIN, field, fieldId, mustRetype, select, wrongOf } from "../ui/form.ts";

/** When an action runs: "when an alert is …". */
export const EVENT_PLACES: Readonly<Record<ActionEvent, string>> = {
  "alert.opened": "opened",
  "alert.escalated": "at the next rung of its ladder",
};

/** Making one, or changing `stored`: of its headers only the names are known here, so that those stay unless others are typed. */
export function actionForm(call: PageCall, action: string, stored: ListedAction | null): Markup {
  const back = call.returned?.action === action ? call.returned.form : null;
  const events = new Set<string>(back?.getAll("events") ?? stored?.events ?? ["alert.opened"]);
  const isOn = back === null ? (stored?.enabled ?? true) : back.has("enabled");
  const area = (name: string, label: string, hint: string) => {
    const id = fieldId(action, name);
    const wrong = wrongOf(call, action, name);
    const isAgain = mustRetype(call, action, name);
    return html`<div class="field"><label for="${id}">${label}</label><textarea id="${id}" name="${name}" rows="3"${isAgain && html` required`} autocomplete="off" spellcheck="false" aria-describedby="${id}-hint"${wrong !== null && html` aria-invalid="true"`}></textarea><p class="hint" id="${id}-hint">${isAgain && `${AGAIN} `}${hint}</p>${wrong !== null && html`<p class="wrong">${wrong}</p>`}</div>`;
  };
  const box = (name: string, value: string, isSet: boolean, words: string) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${isSet && html` checked`}> ${words}</label>`;
  const kept = stored !== null ? " Left empty, what is stored stays." : "";
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "name", label: "Name", value: stored?.name ?? "", required: true, autocomplete: "off" })}
${select(call, action, { name: "method", label: "Method", value: stored?.method ?? "POST", choices: actionMethod.options.map((one) => ({ value: one, name: one })) })}
${field(call, action, { name: "url", label: "Address", value: stored?.url ?? "", type: "url", required: true, autocomplete: "off", ...(stored !== null && (stored.header_keys.length > 0 || stored.has_body) && { hint: "If you change the server, type its headers and body again." }) })}
${area("headers", "Headers", `One a line, “Name: value”; sealed, never shown again.${kept}`)}
${area("body", "Body", `Sealed, too. Without one the event itself is sent.${kept}`)}
<fieldset><legend>Runs when an alert is</legend>${actionEvents.map((event) => box("events", event, events.has(event), EVENT_PLACES[event]))}</fieldset>
${field(call, action, { name: "timeout_seconds", label: "Gives up after, in seconds", value: String(stored?.timeout_seconds ?? 0), type: "number", hint: "0 is 10 seconds; 60 at the most." })}
${box("enabled", "yes", isOn, "It is on")}
<p class="form-foot"><button class="button">${stored === null ? "Add the action" : "Save"}</button></p></form>`;
}

/** As the interface takes it; what was left empty of what is sealed is left out. */
function writtenAction(form: URLSearchParams): ActionWrite {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const headers = headersOf(text("headers"));
  return check(
    actionWrite,
    {
      name: text("name"),
      method: text("method"),
      url: text("url"),
      ...(headers !== null && { headers }),
      ...(text("body") !== "" && { body: form.get("body") ?? "" }),
      enabled: form.has("enabled"),
      events: form.getAll("events"),
      timeout_seconds: Number(text("timeout_seconds") || 0),
    },
    "body",
  );
}

function headersOf(typed: string): Record<string, string> | null {
  if (typed === "") return null;
  const pairs = typed
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const at = line.indexOf(":");
      if (at < 1)
        throw invalid([{ field: "/headers", reason: "must be “Name: value”, one a line" }]);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
    });
  return Object.fromEntries(pairs);
}

export const actionForms: Readonly<Record<string, Form>> = {
  "": {
    verb: "createAction",
    act({ tenant, params }, form) {
      const write = writtenAction(form);
      const of = { write, guard: guardOf(tenant) };
      tenant.store.write((tx) => createAction(tx, getProject(tx, params["project"] ?? ""), of));
      return {
        said: `${write.name} is added. Every rule that does not choose its actions runs it: try it before an alert does.`,
      };
    },
  },
  "{action}/change": {
    verb: "replaceAction",
    act({ tenant, params }, form) {
      const write = writtenAction(form);
      const of = { id: params["action"] ?? "", write, guard: guardOf(tenant) };
      tenant.store.write((tx) => replaceAction(tx, getProject(tx, params["project"] ?? ""), of));
      return { said: `${write.name} is saved.` };
    },
  },
};
