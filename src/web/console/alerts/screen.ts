import { alertId } from "../../../core/alerts/alert.ts";
import { countOpen } from "../../../core/alerts/counts.ts";
import { currentOnCall } from "../../../core/oncall/answers.ts";
import { namesOfSchedules, schedulesWith } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type Beside, type PageCall, pathOf, type Screen, type View } from "../screen.ts";
import { refuseMany, selectedAlerts } from "../ui/alert-actions.ts";
import { alertActionForms } from "../ui/alert-forms.ts";
import {
  assignFields,
  criticalField,
  hoursButtons,
  reasonField,
  stillMatching,
} from "../ui/alert-pieces.ts";
import { type AskedList, askedList, CHOSEN, listAddress } from "../ui/asked-alerts.ts";
import { dutyLine } from "../ui/duty-line.ts";
import { facesOf } from "../ui/faces.ts";
import { area, keyed } from "../ui/form.ts";
import { asked } from "../ui/schedule.ts";
import { besideWords } from "../ui/silence-would.ts";
import { filterButton, filterSet, listTabs } from "./filter-line.ts";
import { alertList, firstOf, type ListEntries, listEntries } from "./list.ts";

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
        filter: () => filterSet(call, asked),
        "asked-all": () => stillMatching(call, "/alerts"),
        list: {
          watches: ["alerts", "oncall:*"],
          attributes: html`data-stay`,
          draw: async () => alertList(call, asked, await entries()),
        },
        selection: () => selectionBar(call),
        // It stands in the menu that asks for it.
        "would-all": () => silencesWould(call),
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

/** Schedules that a person may be in. */
const MOST = 500;

/** For whom is on call: until when, and whether the box has proof that it reaches them. Empty for all others. */
async function dutyStrip(call: PageCall): Promise<Markup> {
  const { tenant, now, who } = call;
  const mine: { project: string; until: number | null }[] = [];
  for (const stored of schedulesWith(tenant.store, who.accountId, { at: now, most: MOST })) {
    const current = await currentOnCall(asked(call), stored, now);
    const own = current.on_call
      ? current.accounts.find(({ account_id }) => account_id === who.accountId)
      : undefined;
    if (own !== undefined) mine.push({ project: stored.project, until: own.ends_at });
  }
  const [first] = mine.sort((a, b) => (a.until ?? Infinity) - (b.until ?? Infinity));
  if (first === undefined) return html``;
  const me = (await facesOf(call, who.accountId))(who.accountId);
  return dutyLine(call, { me, ...first, more: mine.length - 1 });
}

/** What is done to all that are selected: one form, whose boxes stand in the rows. */
function selectionBar(call: PageCall): Markup {
  const to = (what: string) => html` formaction="${call.base}/alerts/${what}"`;
  // All of it goes with each button, and stands there again where what one of them wants isn't taken.
  const action = call.returned?.action.startsWith("/alerts/") ? call.returned.action : "";
  const of = (id: string) => ({ call, action, id });
  const menu = (what: string) =>
    html`<details class="menu" id="bulk-${what}"${action === `/alerts/${what}` && html` open`}>`;
  return html`<div class="selection" data-selection><p><span data-count>0</span> selected</p>
<form id="bulk" method="post" action="${call.base}/alerts/ack" data-preview="would-all" data-preview-to="${call.base}/alerts/silence/try"><input type="hidden" name="list" value="${call.query.toString()}"><button class="button"${keyed("a", "Acknowledge")}>Acknowledge</button><button class="button second"${to("resolve")}${keyed("r", "Resolve")}>Resolve</button>${menu("silence")}<summary class="button second"${keyed("s", "Silence")}>Silence …</summary><div>${reasonField(of("bulk-reason"))}${criticalField(of("bulk-critical"), false)}${hoursButtons("Silence", to("silence"))}<section id="would-all" data-live=""></section></div></details>${menu("assign")}<summary class="button second">Assign …</summary><div>${assignFields(of("bulk"), scheduleNames(call))}<button${to("assign")} data-busy="Paging …">Page them now</button></div></details>${menu("note")}<summary class="button second"${keyed("n", "Note")}>Note …</summary><div>${area(call, action, { name: "text", label: "Note", rows: 2, id: "bulk-text", more: html`maxlength="4096"` })}<button${to("note")}>Add the note</button></div></details></form></div>`;
}

const MOST_SCHEDULES = 20;

/** Each project's alerts go to its own schedule of the name: whom that has now differs, so it isn't said. */
const scheduleNames = ({ tenant: { store } }: PageCall): { name: string }[] =>
  namesOfSchedules(store, MOST_SCHEDULES).map((name) => ({ name }));
