import { acknowledge } from "../../alerts/acknowledge.ts";
import { type AlertRow, alertId, getAlertRow } from "../../alerts/alert.ts";
import { resolve } from "../../alerts/resolve.ts";
import { readTimeline } from "../../alerts/timeline.ts";
import { unacknowledge } from "../../alerts/unacknowledge.ts";
import { html, type Markup } from "../../kit/html.ts";
import type { Tx } from "../../store/store.ts";
import type { Form, FormDone, PageCall, Screen, View } from "../screen.ts";
import { button } from "../ui/form.ts";
import { levelBadge } from "../ui/level.ts";
import { markedTemplate } from "../ui/message.ts";
import { ago, clockTime } from "../ui/times.ts";

const target = ({ id = "" }: Readonly<Record<string, string>>) => ({ kind: "alert", id });

/** A verb that takes nothing but the alert and who says it. */
function plain(
  verb: string,
  change: (tx: Tx, id: number, accountId: string) => AlertRow,
  told: (row: AlertRow) => FormDone,
): Form {
  return {
    verb,
    target,
    act({ tenant, params, who }) {
      const id = alertId(params["id"] ?? "");
      return told(tenant.store.write((tx) => change(tx, id, who.accountId)));
    },
  };
}

/** One alert: what broke, who has it, what was done. */
export const alertScreen: Screen = {
  path: "/a/{id}",
  view(call): View {
    const row = getAlertRow(call.tenant.store, alertId(call.params["id"] ?? ""));
    const watches = [`alert:${row.id}`];
    return {
      title: `#${row.id} ${row.template}`.slice(0, 80),
      heading: html`${markedTemplate(row.template)}`,
      nav: "alerts",
      sections: {
        head: { watches, draw: () => head(call, row) },
        actions: { watches, draw: () => actions(call, row), attributes: html`class="actions"` },
        timeline: { watches, draw: () => timeline(call, row.id) },
      },
    };
  },
  forms: {
    ack: plain(
      "acknowledgeAlert",
      (tx, id, by) => acknowledge(tx, id, by),
      ({ id, state }) =>
        state === "acknowledged"
          ? { said: `Acknowledged #${id}.`, undo: { action: `/a/${id}/unack` } }
          : { said: `#${id} is ${state}.` },
    ),
    unack: plain("unacknowledgeAlert", unacknowledge, ({ id }) => ({
      said: `#${id} is open again.`,
    })),
    resolve: plain(
      "resolveAlert",
      (tx, id, accountId) => resolve(tx, id, { accountId }),
      ({ id }) => ({ said: `Resolved #${id}.` }),
    ),
  },
};

function head(call: PageCall, row: AlertRow): Markup {
  return html`<p>${levelBadge(row.level)} <span class="soft">${row.project} · ${row.rule} · #${row.id}</span></p>
<p class="message">${row.last_message}</p>
<p class="soft">${row.count} × since ${clockTime(call, row.opened_at)}, last ${ago(call, row.last_seen)}</p>`;
}

function actions(call: PageCall, { id, state }: AlertRow): Markup {
  return html`${state === "open" && button(call, { action: `/a/${id}/ack`, name: "Acknowledge", key: "a" })}${
    state === "acknowledged" &&
    button(call, { action: `/a/${id}/unack`, name: "Un-acknowledge", kind: "second" })
  }${
    state !== "resolved" &&
    button(call, { action: `/a/${id}/resolve`, name: "Resolve", key: "r", kind: "second" })
  }`;
}

function timeline(call: PageCall, id: number): Markup {
  const entries = readTimeline(call.tenant.store, id).reverse();
  return html`<h2>Timeline</h2><ol class="timeline">${entries.map(
    ({ at, kind }) =>
      html`<li>${clockTime(call, at)} <span class="timeline-text">${kind}</span></li>`,
  )}</ol>`;
}
