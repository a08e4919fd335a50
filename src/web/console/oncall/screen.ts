import { gridOnCall } from "../../../core/oncall/grid.ts";
import { scheduleWrite } from "../../../core/oncall/schedule.ts";
import { createSchedule, listAllSchedules } from "../../../core/oncall/schedules.ts";
import { isTimezone } from "../../../core/oncall/zone.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Form, PageCall, Screen } from "../screen.ts";
import { calendarPlot } from "../ui/calendar-plot.ts";
import { blocksOf, type CalendarRow } from "../ui/calendar-rows.ts";
import { fault, field, keyed, select, tick } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { askedRange, dateAfter, lastMondayNine, rangeWords } from "../ui/local-time.ts";
import { everybody, peopleHues, peopleNames } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import {
  asked,
  LOOK_DAYS,
  type SeatNow,
  schedulePage,
  seatNow,
  stretchWords,
} from "../ui/schedule.ts";
import { ownFile } from "./addresses.ts";
import { askedOfMe } from "./ask.ts";
import { maintenanceList, maintenanceWindows } from "./maintenance.ts";
import { gapNote, nextShift, nowCards } from "./now.ts";

const ACTION = "/oncall/weekly";
const WEEK_MINUTES = 7 * 1440;

/** The shortest way to a rota: who takes turns, a week each, from Monday 09:00. */
function weeklyForm(call: PageCall): Markup {
  const { tenant, base, look } = call;
  const projects = configVersions(tenant.store).map(({ project }) => project);
  if (projects.length === 0)
    return html`<h2>New schedule</h2><p class="soft">A schedule belongs to a project, and there is none yet.</p>`;
  const people = everybody(tenant.store);
  return html`<h2>New weekly schedule</h2><p class="soft">One person a week in turn, changing each Monday at 09:00. Everything can be changed after.</p>
<form class="form" method="post" action="${base}${ACTION}">
${select(call, ACTION, { name: "project", label: "Project", value: projects[0] ?? "", choices: projects.map((name) => ({ value: name, name })) })}
${field(call, ACTION, { name: "name", label: "Name", value: "primary", required: true, autocomplete: "off" })}
<fieldset><legend>Who takes turns</legend>${people.map(({ id, name }) =>
    tick(call, ACTION, { name: "person", value: id, words: name, usual: true }),
  )}${fault(call, ACTION, "layers")}</fieldset>
${field(call, ACTION, { name: "timezone", label: "Time zone", value: look.zone, required: true, hint: "As Europe/Berlin: whose clock the hand-over follows.", autocomplete: "off" })}
<p class="form-foot"><button class="button">Make a weekly schedule</button></p></form>`;
}

const weeklyAction: Form = {
  verb: "createSchedule",
  act({ tenant, now }, form) {
    const timezone = form.get("timezone") ?? "";
    const layer = {
      name: "weekly",
      participants: form.getAll("person"),
      shift_minutes: WEEK_MINUTES,
      // An unknown zone is refused with its own words.
      rotation_start: isTimezone(timezone) ? lastMondayNine(timezone, now) : 0,
    };
    const body = { name: form.get("name") ?? "", timezone, layers: [layer] };
    const input = check(scheduleWrite, body, "body");
    const made = tenant.store.write((tx) =>
      createSchedule(tx, getProject(tx, form.get("project") ?? ""), input),
    );
    return { said: `Made ${made.project} / ${made.name}.`, to: schedulePage(made) };
  },
};

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

/** One week of all schedules on the reader's clock, and the same as a list. */

const DAYS = 7;
/** Blocks of one schedule's week: more nobody can tell apart. */
const MOST_BLOCKS = 100;

type ShownWeek = Awaited<ReturnType<typeof readWeek>>;

async function readWeek(call: PageCall) {
  const query = new URLSearchParams({ days: String(DAYS) });
  const from = call.query.get("from");
  if (from !== null) query.set("from", from);
  const range = askedRange(call.look.zone, query, call.now);
  const { from: since, until } = range;
  return { range, grid: await gridOnCall(asked(call), { from: since, until }) };
}

function weekGrid(call: PageCall, { range, grid }: ShownWeek): Markup {
  const { base, look, now, who } = call;
  const names = peopleNames(call.tenant.store);
  const pages = new Map<string, string>();
  const rows = grid.schedules.map((one): CalendarRow => {
    const name = `${one.project} / ${one.schedule}`;
    pages.set(name, schedulePage({ project: one.project, name: one.schedule }));
    const blocks = blocksOf(one).slice(0, MOST_BLOCKS);
    return { kind: "final", name, index: 0, blocks };
  });
  const zone = look.zone;
  const label = `All schedules, ${stretchWords({ starts_at: range.from, ends_at: range.until }, zone)}`;
  const link = (count: number, words: string, key: string, sign: "back" | "next") =>
    html`<a class="icon-button" href="${base}/oncall?from=${dateAfter(range, count)}#week"${keyed(key, words)} aria-label="${words}">${icon(sign, "small")}</a>`;
  const today =
    call.query.get("from") !== null &&
    html`<a href="${base}/oncall#week"${keyed("t", "This week")}>This week</a>`;
  const listed = rows.flatMap(({ name, blocks }) =>
    blocks.map(
      (block) =>
        html`<tr${block.account_id === null && html` class="agenda-gap"`}><td><a href="${base}${pages.get(name)}">${name}</a></td><td>${block.account_id === null ? "Nobody" : names(block.account_id)}${block.away && " (away)"}</td><td>${stretchWords(block, zone)}</td></tr>
`,
    ),
  );
  return html`<div class="week-head">${link(-DAYS, "The week before", "ArrowLeft", "back")}<h2>${rangeWords(range)}</h2>${link(DAYS, "The week after", "ArrowRight", "next")}${today}</div>
${calendarPlot({
  rows,
  range,
  timezone: zone,
  now,
  me: who.accountId,
  names,
  hues: peopleHues(call.tenant.store),
  label,
  head: (row) =>
    row === null ? html`<span class="soft">Your time, ${zone}</span>` : html`<b>${row.name}</b>`,
  href: ({ starts_at }, { name }) => `${base}${pages.get(name)}?shift=${starts_at}`,
})}<details id="week-list"><summary>As a list</summary><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Schedule</th><th scope="col">On call</th><th scope="col">When</th></tr></thead><tbody>${listed}</tbody></table></div></details>${
    grid.left_out > 0 && html`<p class="soft">${grid.left_out} more schedules are not shown.</p>`
  }`;
}
