import { alertId } from "../../../core/alerts/alert.ts";
import { runForAlert } from "../../../core/alerts/verbs.ts";
import { listActions } from "../../../core/projects/actions.ts";
import { projectOf } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { alertExecutions, type Execution } from "../../../out/outbox/rows.ts";
import type { FormDone, PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { ago, clockTime } from "../ui/times.ts";
import type { ShownAlert } from "./shown-alert.ts";

const MOST = 20;

/** What was run for the alert and can be again, and what its rule says to do. */
export function runbook(call: PageCall, shown: ShownAlert): Markup {
  const { row, rule } = shown;
  const { store } = call.tenant;
  const runs = alertExecutions(store, row.id, MOST);
  const named = runs.length === 0 ? [] : listActions(store, projectOf(store, row.project_id));
  const nameOf = (id: string) => named.find((one) => one.id === id)?.name ?? null;
  const latest = new Set<string>();
  // Newest first: each action is run again from its latest run.
  const again = ({ action_id }: Execution): Piece => {
    const name = nameOf(action_id);
    if (latest.has(action_id) || name === null) return false;
    latest.add(action_id);
    const isOff = named.find(({ id }) => id === action_id)?.enabled === false;
    return runAgain(call, shown, { id: action_id, name, isOff });
  };
  const url = rule?.runbook_url ?? "";
  return html`<h2>Runbook</h2>
${url !== "" && html`<p><a href="${url}" rel="noopener noreferrer nofollow">${url}</a></p>`}${asked(call, row.id, nameOf)}${
  runs.length === 0
    ? html`<p class="soft">${url === "" && "The rule names no runbook. "}No action has run for this alert.</p>`
    : html`<ul class="runs">${runs.map(
        (run) => html`<li>${runWords(call, run, nameOf(run.action_id))}${again(run)}</li>`,
      )}</ul>`
}`;
}

function runWords(call: PageCall, run: Execution, name: string | null): Markup {
  const { id, status, status_code, duration_ms, executed_at, error, response_prefix } = run;
  const look = status === "succeeded" ? "good" : status === "pending" ? "soft" : "wrong";
  return html`<strong>${name ?? "an action that is gone"}</strong>: <span class="${look}">${status.replace("_", " ")}</span>${
    status_code !== null && ` ${status_code}`
  }${duration_ms !== null && ` in ${duration_ms} ms`}${
    executed_at !== null && html`, ${clockTime(call, executed_at)}`
  }${error !== "" && `: ${error}`}${
    response_prefix !== "" &&
    html`<details id="run-${id}"><summary>What it answered</summary><pre class="code">${response_prefix.slice(0, 1024)}</pre></details>`
  }`;
}

function runAgain(
  call: PageCall,
  { row }: ShownAlert,
  { id, name, isOff }: { id: string; name: string; isOff: boolean },
): Piece {
  if (row.state === "resolved" || row.drill !== 0) return false;
  return button(call, {
    action: `/a/${row.id}/actions/${id}/run`,
    name: "Run again",
    kind: "second",
    label: `Run again: ${name}`,
    ...(isOff && { why: "It is turned off." }),
  });
}

/** A run within so many seconds is asked about before the next: a press too many restarts what just came up. */
const ASKS_SECONDS = 600;

/** The question, where one was asked. */
function asked(call: PageCall, alert: number, nameOf: (id: string) => string | null): Piece {
  const id = call.shown["ran"];
  const last = id === undefined ? undefined : lastRun(call, alert, id);
  if (id === undefined || last === undefined) return false;
  const action = `/a/${alert}/actions/${id}/run`;
  return html`<div class="notice notice-warn" role="alert"><p><strong>${nameOf(id) ?? "It"} ${
    last.status === "pending" ? "is still running" : "ran"
  }</strong>: asked for ${ago(call, last.created_at)}.</p><form method="post" action="${call.base}${action}"><button class="button second" name="anyway" value="1">Run it anyway</button></form></div>`;
}

const lastRun = ({ tenant }: PageCall, alert: number, id: string): Execution | undefined =>
  alertExecutions(tenant.store, alert, MOST).find(({ action_id }) => action_id === id);

/** Runs an action for the alert; one that ran a short while ago only when it is asked for once more. */
export function runActionAgain(call: PageCall, form: URLSearchParams): FormDone {
  const { tenant, params, who } = call;
  const id = alertId(params["alert"] ?? "");
  const actionId = params["action"] ?? "";
  const last = lastRun(call, id, actionId);
  if (!form.has("anyway") && last !== undefined && last.created_at > call.now - ASKS_SECONDS)
    return { said: "Not run yet: it ran a short while ago.", shown: { ran: actionId } };
  const { accountId } = who;
  tenant.store.write((tx) => runForAlert(tx, id, { actionId, accountId }));
  return { said: "It is run." };
}
