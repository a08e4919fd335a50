import { alertId } from "../../../core/alerts/alert.ts";
import { countOpen } from "../../../core/alerts/counts.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type Beside, type PageCall, pathOf, type Screen, type View } from "../screen.ts";
import { refuseMany, selectedAlerts } from "../ui/alert-actions.ts";
import { alertActionForms } from "../ui/alert-forms.ts";
import { stillMatching } from "../ui/alert-pieces.ts";
import { type AskedList, askedList, CHOSEN, listAddress } from "../ui/asked-alerts.ts";
import { besideWords } from "../ui/silence-would.ts";
import { dutyStrip } from "./duty.ts";
import { filterButton, filterSet, listTabs } from "./filter-line.ts";
import { alertList, firstOf, type ListEntries, listEntries } from "./list.ts";
import { selectionBar } from "./selection-bar.ts";

/** What silences of those that are selected would take beside them, once somebody asks. */
function silencesWould(call: PageCall): Markup | Promise<Markup> {
  const ids = call.shown["silence"];
  // What is chosen beside the list asks for its own.
  if (ids === undefined || ids === "tried") return html``;
  return besideWords(call, ids.split(",").map(alertId));
}

/** The alert that stands beside the list: the one that its address names, else the first. An open page that has none gets none. */
async function chosen(
  call: PageCall,
  asked: AskedList,
  entries: () => Promise<ListEntries>,
): Promise<Beside | null> {
  if (!call.look.isWide) return null;
  const named = call.query.get(CHOSEN);
  if (named !== null) return { at: pathOf("a", named), as: "chosen" };
  const first = call.isOpen ? null : firstOf(await entries());
  if (first === null) return null;
  const query = queryOf(listAddress(asked));
  query.set(CHOSEN, String(first));
  return { at: pathOf("a", String(first)), as: "chosen", both: `/alerts?${query}` };
}

const queryOf = (address: string): URLSearchParams => new URL(address, "http://box").searchParams;

/** What is going on: the alerts, by state, in the order of need. */
export const alertsScreen: Screen = {
  path: "/alerts",
  async view(asking): Promise<View> {
    const asked = askedList(asking.query);
    // Read once, for whichever part of the page asks first.
    let read: Promise<ListEntries> | undefined;
    const entries = () => {
      read ??= listEntries(asking, asked);
      return read;
    };
    const beside = await chosen(asking, asked, entries);
    const query = beside?.both === undefined ? asking.query : queryOf(beside.both);
    const call = { ...asking, query };
    const open = countOpen(call.tenant.store);
    return {
      title: open > 0 ? `(${open}) Alerts` : "Alerts",
      heading: html`Alerts`,
      tools: () => filterButton(call, asked),
      nav: "alerts",
      script: "neighbours",
      ...(beside !== null && { beside }),
      sections: {
        duty: { watches: ["oncall", "oncall:*"], draw: () => dutyStrip(call) },
        tabs: { watches: ["alerts"], draw: () => listTabs(call, asked) },
        filter: { watches: [], draw: () => filterSet(call, asked) },
        "asked-all": { watches: [], draw: () => stillMatching(call, "/alerts") },
        list: {
          watches: ["alerts", "oncall:*"],
          attributes: html`data-stay`,
          draw: async () => alertList(call, asked, await entries()),
        },
        selection: { watches: [], draw: () => selectionBar(call) },
        // It stands in the menu that asks for it.
        "would-all": { watches: [], draw: () => silencesWould(call) },
      },
      body: (put) =>
        html`${put("tabs")}${put("filter")}${put("asked-all")}${put("list")}${put("selection")}`,
    };
  },
  forms: {
    ...alertActionForms(selectedAlerts),
    "silence/try": {
      verb: "previewBulkSilence",
      reads: true,
      act: async (call, form) => {
        const { ids } = await selectedAlerts(call, form);
        refuseMany(ids);
        return { said: "", shown: { silence: ids.join(",") } };
      },
    },
  },
};
