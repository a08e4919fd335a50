import { type Alert, type AlertState, alertState } from "../../alerts/alert.ts";
import { listAlerts } from "../../alerts/list.ts";
import { whoDid } from "../../alerts/whose.ts";
import { html, type Markup } from "../../kit/html.ts";
import type { PageCall, Screen, View } from "../screen.ts";
import { button } from "../ui/form.ts";
import { levelBadge } from "../ui/level.ts";
import { identifiersText, markedTemplate } from "../ui/message.ts";
import { empty, tabs } from "../ui/pieces.ts";
import { ago } from "../ui/times.ts";

const ROWS = 50;

const STATES: readonly [state: AlertState, name: string][] = [
  ["open", "Open"],
  ["acknowledged", "Acknowledged"],
  ["resolved", "Resolved"],
];

/** What is going on: the alerts, by state. */
export const alertsScreen: Screen = {
  path: "/alerts",
  view(call): View {
    const state = alertState.safeParse(call.query.get("state")).data ?? "open";
    return {
      title: "Alerts",
      nav: "alerts",
      sections: {
        tabs: { watches: ["alerts"], draw: () => stateTabs(call, state) },
        list: { watches: ["alerts"], draw: () => list(call, state) },
      },
    };
  },
};

function stateTabs({ base }: PageCall, here: AlertState): Markup {
  return tabs(
    "Alerts by state",
    STATES.map(([state, name]) => ({
      name,
      href: `${base}/alerts${state === "open" ? "" : `?state=${state}`}`,
      here: state === here,
    })),
  );
}

function list(call: PageCall, state: AlertState): Markup {
  const { alerts } = listAlerts(call.tenant.store, { states: [state], limit: ROWS });
  if (alerts.length === 0) return empty("Nothing is here.");
  return html`<ol class="rows" data-list>${alerts.map((alert) => row(call, alert))}</ol>`;
}

const LOOKS: Record<AlertState, string> = {
  open: "open",
  acknowledged: "ack",
  resolved: "resolved",
};

function row(call: PageCall, alert: Alert): Markup {
  const { id, state, level, template, project, rule, identifiers, count, last_seen } = alert;
  const names = identifiersText(identifiers);
  return html`<li class="row row-${LOOKS[state]}" id="row-${id}" data-row>
<span class="row-head">${levelBadge(level)}</span>
<span class="row-title"><a class="message" href="${call.base}/a/${id}">${markedTemplate(template)}</a></span>
<span class="row-about">${project} · ${rule}${names !== "" && ` · ${names}`} · #${id}</span>
<span class="row-count">${count} ×</span>
<span class="row-age">${ago(call, last_seen)}</span>
<span class="row-next">${whoHas(call, alert)}</span>
<span class="row-actions">${
    state === "open" && button(call, { action: `/a/${id}/ack`, name: "Acknowledge", key: "a" })
  }${
    state === "acknowledged" &&
    button(call, { action: `/a/${id}/resolve`, name: "Resolve", key: "r", kind: "second" })
  }</span>
</li>
`;
}

function whoHas({ tenant }: PageCall, { id, state }: Alert): string {
  if (state === "open") return "";
  const who = whoDid(tenant.store, Number(id), state);
  return who === null ? "" : `${who} has it`;
}
