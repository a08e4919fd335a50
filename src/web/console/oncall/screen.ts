import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen } from "../screen.ts";
import { keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { empty } from "../ui/pieces.ts";
import { LOOK_DAYS, type SeatNow, seatNow } from "../ui/seat-now.ts";
import { askedOfMe } from "./ask.ts";
import { ownFile } from "./files.ts";
import { maintenanceList, maintenanceWindows } from "./maintenance.ts";
import { gapNote, nextShift, nowCards } from "./now.ts";
import { readWeek, weekGrid } from "./week.ts";
import { weeklyAction, weeklyForm } from "./weekly.ts";

const WATCHED = ["oncall", "oncall:*", "people", "projects"];

/** Who has the phone now, who is next, and where is nobody. */
export const oncallScreen: Screen = {
  path: "/oncall",
  async view(call) {
    const seats: SeatNow[] = [];
    for (const stored of listAllSchedules(call.tenant.store))
      seats.push(await seatNow(call, stored));
    const none = seats.length === 0;
    return {
      title: "On call",
      nav: "oncall",
      tools: () => tools(call),
      sections: {
        asked: { watches: WATCHED, draw: () => askedOfMe(call) },
        now: {
          watches: WATCHED,
          draw: async () =>
            none
              ? empty("No schedule: your ladders page people by name.")
              : await nowCards(call, seats),
        },
        gaps: { watches: WATCHED, draw: () => gapNote(call, seats) },
        mine: { watches: WATCHED, draw: () => (none ? html`` : nextShift(call, seats)) },
        week: {
          watches: WATCHED,
          draw: async () => (none ? html`` : weekGrid(call, await readWeek(call))),
        },
        quiet: { watches: ["silences"], draw: () => quietAhead(call) },
        weekly: { watches: ["people", "projects"], draw: () => weeklyForm(call) },
      },
      body: (put) =>
        html`${["asked", "now", "gaps", "mine", "week", "quiet"].map(put)}${
          none
            ? put("weekly")
            : html`<details id="new"${call.returned !== null && html` open`}><summary>New schedule…</summary>${put("weekly")}</details>`
        }`,
    };
  },
  forms: { weekly: weeklyAction },
  files: { "my-shifts.ics": ownFile },
};

/** Beside the heading: what is asked for now and then. */
function tools({ base }: PageCall): Markup {
  return html`<a class="icon-button" href="${base}/ladders" title="Ladders">${icon("ladder")}<span>Ladders</span></a><a class="icon-button" href="${base}/oncall/my-shifts.ics" download title="My shifts as a file">${icon("out")}<span>My shifts</span></a><a class="icon-button" href="#weekly" aria-label="New schedule"${keyed("n", "New schedule")}>${icon("plus")}<span>New</span></a>`;
}

/** What is planned to be quiet in the next fortnight, on the reader's clock. */
function quietAhead(call: PageCall): Markup {
  const range = { from: call.now, until: call.now + LOOK_DAYS * 86_400 };
  return maintenanceList(call, maintenanceWindows(call.tenant.store, range), call.look.zone);
}
