import { alertId } from "../../../core/alerts/alert.ts";
import { countAlerts } from "../../../core/alerts/counts.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen, View } from "../screen.ts";
import { refuseMany } from "../ui/alert-deeds.ts";
import { alertActionForms, selectedAlerts } from "../ui/alert-forms.ts";
import { stillMatching } from "../ui/alert-pieces.ts";
import { askedList } from "../ui/asked-alerts.ts";
import { besideWords } from "../ui/silence-would.ts";
import { dutyStrip } from "./duty.ts";
import { filterButton, filterSet, listTabs } from "./filter-line.ts";
import { alertList } from "./list.ts";
import { selectionBar } from "./selection-bar.ts";

/** What silences of those that are selected would take beside them, once somebody asks. */
function silencesWould(call: PageCall): Markup | Promise<Markup> {
  const ids = call.shown["silence"];
  return ids === undefined ? html`` : besideWords(call, ids.split(",").map(alertId));
}

/** What is going on: the alerts, by state, in the order of need. */
export const alertsScreen: Screen = {
  path: "/alerts",
  view(call): View {
    const asked = askedList(call.query);
    const { open } = countAlerts(call.tenant.store, { accountId: call.who.accountId });
    return {
      title: open > 0 ? `(${open}) Alerts` : "Alerts",
      heading: html`Alerts`,
      tools: () => filterButton(call, asked),
      nav: "alerts",
      script: "neighbours",
      sections: {
        duty: { watches: ["oncall", "oncall:*"], draw: () => dutyStrip(call) },
        tabs: { watches: ["alerts"], draw: () => listTabs(call, asked) },
        filter: { watches: [], draw: () => filterSet(call, asked) },
        asked: { watches: [], draw: () => stillMatching(call, "/alerts") },
        list: {
          watches: ["alerts", "oncall:*"],
          attributes: html`data-stay`,
          draw: () => alertList(call, asked),
        },
        selection: { watches: [], draw: () => selectionBar(call) },
        // It stands in the menu that asks for it.
        would: { watches: [], draw: () => silencesWould(call) },
      },
      body: (put) =>
        html`${put("tabs")}${put("filter")}${put("asked")}${put("list")}${put("selection")}`,
    };
  },
  forms: {
    ...alertActionForms(selectedAlerts),
    "silence/try": {
      verb: "previewBulkSilence",
      target: () => ({ kind: "alert", id: "" }),
      reads: true,
      act: async (call, form) => {
        const { ids } = await selectedAlerts(call, form);
        refuseMany(ids);
        return { said: "", shown: { silence: ids.join(",") } };
      },
    },
  },
};
