import {
  type ActionEvent,
  type ActionWrite,
  actionEvents,
  actionMethod,
  actionWrite,
  type ListedAction,
} from "../../../core/projects/action.ts";
import {
  createAction,
  deleteAction,
  getActionRow,
  listActions,
  replaceAction,
} from "../../../core/projects/actions.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listExecutions } from "../../../out/outbox/rows.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { area, button, field, select, tick } from "../ui/form.ts";
import { empty } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { ago } from "../ui/times.ts";

/** When an action runs: "when an alert is …". */
const EVENT_PLACES: Readonly<Record<ActionEvent, string>> = {
  "alert.opened": "opened",
  "alert.escalated": "at the next rung of its ladder",
};

/** Making one, or changing `stored`: of its headers only the names are known here, so that those stay unless others are typed. */
function actionForm(call: PageCall, action: string, stored: ListedAction | null): Markup {
  const events: readonly string[] = stored?.events ?? ["alert.opened"];
  const sealed = { secret: true, rows: 3, more: html`autocomplete="off" spellcheck="false"` };
  const kept = stored !== null ? " Leave this empty to keep what is stored." : "";
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "name", label: "Name", value: stored?.name ?? "", required: true, autocomplete: "off" })}
${select(call, action, { name: "method", label: "Method", value: stored?.method ?? "POST", choices: actionMethod.options.map((one) => ({ value: one, name: one })) })}
${field(call, action, { name: "url", label: "Address", value: stored?.url ?? "", type: "url", required: true, autocomplete: "off", ...(stored !== null && (stored.header_keys.length > 0 || stored.has_body) && { hint: "If you change the server, type its headers and body again." }) })}
${area(call, action, { name: "headers", label: "Headers", ...sealed, hint: `One a line, “Name: value”; sealed, never shown again.${kept}` })}
${area(call, action, { name: "body", label: "Body", ...sealed, hint: `Sealed, too. Without one the event itself is sent.${kept}` })}
<fieldset><legend>Runs when an alert is</legend>${actionEvents.map((event) => tick(call, action, { name: "events", value: event, usual: events.includes(event), words: EVENT_PLACES[event] }))}</fieldset>
${field(call, action, { name: "timeout_seconds", label: "Gives up after, in seconds", value: String(stored?.timeout_seconds ?? 0), type: "number", hint: "At most 60. 0 means 10 seconds." })}
${tick(call, action, { name: "enabled", value: "yes", usual: stored?.enabled ?? true, words: "It is on" })}
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

const actionForms: Readonly<Record<string, Form>> = {
  "": {
    verb: "createAction",
    act({ tenant, params }, form) {
      const write = writtenAction(form);
      const of = { write, guard: tenant };
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
      const of = { id: params["action"] ?? "", write, guard: tenant };
      tenant.store.write((tx) => replaceAction(tx, getProject(tx, params["project"] ?? ""), of));
      return { said: `${write.name} is saved.` };
    },
  },
};

const RUNS = 5;

/** What the box does by itself when an alert opens or climbs: each action with its latest runs. */
export const actionsScreen: Screen = {
  path: "/p/{project}/actions",
  view(call) {
    const project = getProject(call.tenant.store, call.params["project"] ?? "");
    const watches = [`project:${project.name}`, `channels:${project.name}`, "alerts"];
    return {
      title: `${project.name} · Actions`,
      heading: html`${project.name}`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, project.name, "actions"),
        actions: { watches, draw: () => cards(call, project) },
        add: () =>
          html`<details id="add-action"${call.returned?.action === atOf(project) && html` open`}><summary>Add an action</summary>${actionForm(call, atOf(project), null)}</details>`,
      },
    };
  },
  forms: {
    ...actionForms,
    "{action}/test": {
      verb: "testAction",
      auditAlways: true,
      async act({ tenant, params }) {
        const project = getProject(tenant.store, params["project"] ?? "");
        const row = getActionRow(tenant.store, project, params["action"] ?? "");
        const { ok, status_code, error = "" } = await tenant.outbox.testFire.action(row);
        return {
          said: ok
            ? `${row.name} ran: status ${status_code}.`
            : `${row.name} didn't succeed: ${error === "" ? `status ${status_code}` : error}.`,
        };
      },
    },
    "{action}/delete": {
      verb: "deleteAction",
      act({ tenant, params }) {
        tenant.store.write((tx) =>
          deleteAction(tx, getProject(tx, params["project"] ?? ""), params["action"] ?? ""),
        );
        return { said: "The action is deleted; what it ran stays in the histories of alerts." };
      },
    },
  },
};

const atOf = ({ name }: Project) => pathOf("p", name, "actions");

function cards(call: PageCall, project: Project): Markup {
  const all = listActions(call.tenant.store, project);
  if (all.length === 0)
    return empty(
      "The box does nothing by itself here.",
      html`<p class="soft">An action sends one request of yours when an alert opens: to restart, to open a ticket.</p>`,
    );
  return html`<ul class="steps">${all.map((one) => card(call, project, one))}</ul>`;
}

function card(call: PageCall, project: Project, action: ListedAction): Markup {
  const { id, name, method, url, header_keys, has_body, enabled, events, timeout_seconds } = action;
  const at = `${atOf(project)}/${id}`;
  const change = `${at}/change`;
  return html`<li class="card" id="action-${id}"><div class="card-head"><h2>${name}</h2><span class="${enabled ? "good" : "warn"}">${enabled ? "on" : "off"}</span></div>
<p class="mono">${method} ${url}</p>
<p class="soft">Runs when an alert is ${events.map((event) => EVENT_PLACES[event]).join(", or ")}; gives up after ${timeout_seconds === 0 ? 10 : timeout_seconds} s. ${
    header_keys.length === 0 ? "No headers" : html`Headers ${header_keys.join(", ")}: sealed`
  }; ${has_body ? "a body of its own, sealed" : "the event as its body"}.</p>
${runs(call, project, id)}
<div class="buttons">${button(call, {
    action: `${at}/test`,
    name: "Run it once",
    kind: "second",
    label: `Run it once: ${name}`,
    ...(enabled ? {} : { why: "It is off." }),
  })}</div>
<details id="change-${id}"${call.returned?.action === change && html` open`}><summary>Change it</summary>${actionForm(call, change, action)}</details>
<details id="delete-${id}"><summary>Delete it</summary><p class="soft">It can’t be deleted while a rule names it.</p>${button(call, { action: `${at}/delete`, name: `Delete ${name}`, kind: "danger" })}</details></li>
`;
}

const WORDS = {
  pending: ["warn", "waiting"],
  succeeded: ["good", "succeeded"],
  failed: ["wrong", "failed"],
  timed_out: ["wrong", "took too long"],
} as const;

function runs(call: PageCall, project: Project, actionId: string): Markup {
  const all = listExecutions(call.tenant.store, { projectId: project.id, actionId }, RUNS);
  if (all.length === 0)
    return html`<p class="soft">This action never ran. Run it once before an alert does.</p>`;
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th>run</th><th>for</th><th>came to</th><th>answer</th></tr></thead><tbody>${all.map(
    ({
      alert_id,
      status,
      status_code,
      duration_ms,
      response_prefix,
      error,
      attempts,
      created_at,
    }) => {
      const [kind, word] = WORDS[status];
      const why = error === "" ? (status_code === null ? "" : `status ${status_code}`) : error;
      return html`<tr><td data-label="run">${ago(call, created_at)}</td><td data-label="for">${alert_id === "test" || alert_id === "" ? "a test" : html`<a href="${call.base}/a/${alert_id}">#${alert_id}</a>`}</td><td data-label="came to"><div><span class="${kind}">${word}</span>${why !== "" && `: ${why}`}${duration_ms !== null && ` in ${duration_ms} ms`}${attempts > 1 && `, ${attempts} tries`}</div></td><td data-label="answer"><span class="message small">${response_prefix}</span></td></tr>
`;
    },
  )}</tbody></table></div>`;
}
