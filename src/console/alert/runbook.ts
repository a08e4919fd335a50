import { html, type Markup } from "../../kit/html.ts";
import { alertExecutions } from "../../outbox/rows.ts";
import { listActions } from "../../projects/actions.ts";
import { projectOf } from "../../projects/projects.ts";
import type { PageCall } from "../screen.ts";
import { clockTime } from "../ui/times.ts";
import type { ShownAlert } from "./shown-alert.ts";

const MOST = 20;

/** What was run for the alert, and what its rule says to do. */
export function runbook(call: PageCall, { row, rule }: ShownAlert): Markup {
  const { store } = call.tenant;
  const runs = alertExecutions(store, row.id, MOST);
  const named = runs.length === 0 ? [] : listActions(store, projectOf(store, row.project_id));
  const nameOf = (id: string) =>
    named.find((one) => one.id === id)?.name ?? "an action that is gone";
  const url = rule?.runbook_url ?? "";
  return html`<h2>Runbook</h2>
${url !== "" && html`<p><a href="${url}" rel="noopener noreferrer nofollow">${url}</a></p>`}${
  runs.length === 0
    ? html`<p class="soft">${url === "" && "The rule names no runbook. "}No action has run for this alert.</p>`
    : html`<ul class="runs">${runs.map(
        ({
          action_id,
          status,
          status_code,
          duration_ms,
          executed_at,
          error,
          response_prefix,
          id,
        }) =>
          html`<li><strong>${nameOf(action_id)}</strong>: <span class="${status === "succeeded" ? "good" : status === "pending" ? "soft" : "wrong"}">${status.replace("_", " ")}</span>${
            status_code !== null && ` ${status_code}`
          }${duration_ms !== null && ` in ${duration_ms} ms`}${
            executed_at !== null && html`, ${clockTime(call, executed_at)}`
          }${error !== "" && `: ${error}`}${
            response_prefix !== "" &&
            html`<details id="run-${id}"><summary>What it answered</summary><pre class="code">${response_prefix.slice(0, 1024)}</pre></details>`
          }</li>`,
      )}</ul>`
}`;
}
