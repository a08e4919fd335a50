import { countAlerts } from "../../../core/alerts/counts.ts";
import { html } from "../../../ground/kit/html.ts";
import type { Screen, View } from "../screen.ts";
import { alertActionForms, selectedAlerts } from "../ui/alert-forms.ts";
import { stillMatching } from "../ui/alert-pieces.ts";
import { askedList } from "../ui/asked-alerts.ts";
import { filterLine, listTabs } from "./filter-line.ts";
import { alertList } from "./list.ts";
import { selectionBar } from "./selection-bar.ts";

/** What is going on: the alerts, by state, in the order of need. */
export const alertsScreen: Screen = {
  path: "/alerts",
  view(call): View {
    const asked = askedList(call.query);
    const { open } = countAlerts(call.tenant.store, { accountId: call.who.accountId });
    return {
      title: open > 0 ? `(${open}) Alerts` : "Alerts",
      heading: html`Alerts`,
      nav: "alerts",
      script: "neighbours",
      sections: {
        tabs: { watches: ["alerts"], draw: () => listTabs(call, asked) },
        filter: { watches: [], draw: () => filterLine(call, asked) },
        asked: { watches: [], draw: () => stillMatching(call, "/alerts") },
        list: {
          watches: ["alerts", "oncall:*"],
          attributes: html`data-stay`,
          draw: () => alertList(call, asked),
        },
        selection: { watches: [], draw: () => selectionBar(call) },
      },
    };
  },
  forms: alertActionForms(selectedAlerts),
};
