import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Elsewhere, PageCall, Screen, Section } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { calendarPlot } from "../ui/calendar-plot.ts";
import type { CalendarRow } from "../ui/calendar-rows.ts";
import { facesOf, squareChip } from "../ui/faces.ts";
import { keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { dateAfter, dateAt, rangeWords } from "../ui/local-time.ts";
import { nowCard } from "../ui/now-card.ts";
import { counted } from "../ui/pieces.ts";
import {
  aheadWords,
  clocksDiffer,
  LAYERS_ARE,
  LOOK_DAYS,
  pageWith,
  type SeatNow,
  type ShownSchedule,
  scheduleOf,
  schedulePage,
  seatNow,
  showSchedule,
  stretchWords,
} from "../ui/schedule.ts";
import { span } from "../ui/times.ts";
import { calendarActions, calendarAddresses, scheduleFile } from "./addresses.ts";
import { agenda } from "./agenda.ts";
import { askAction, askForm, swapForm } from "./ask.ts";
import { coverForm, coverWould, overrideList } from "./cover.ts";
import { overrideActions } from "./form-actions.ts";
import { type MaintenanceWindow, maintenanceList, maintenanceWindows } from "./maintenance.ts";
import { plannedLink } from "./now.ts";

/** One schedule: its calendar, its shifts in words, and how somebody is put on call for a while. */
export const scheduleScreen: Screen = {
  path: "/oncall/{project}/{schedule}",
  async view(call) {
    const at = /^\d{1,11}$/.exec(call.query.get("shift") ?? "");
    if (at !== null) return await atShift(call, Number(at[0]));
    const shown = await showSchedule(call);
    const { project, name } = shown.stored;
    const watches = ["oncall", `oncall:${project}/${name}`, "people"];
    const { from, until } = shown.range;
    const quiet = maintenanceWindows(call.tenant.store, { from, until, project });
    const section = (draw: Section["draw"]): Section => ({ watches, draw });
    return {
      title: `${project} / ${name}`,
      heading: html`<a href="${call.base}/oncall">On call</a> › ${project} / ${name}`,
      nav: "oncall",
      script: "calendar",
      sections: {
        holder: section(() => head(call, shown)),
        range: section(() => rangeLine(call, shown)),
        calendar: {
          watches: [...watches, "silences"],
          draw: () => calendar(call, shown, quiet),
        },
        swap: section(() => swapForm(call, shown)),
        ask: section(() => askForm(call, shown)),
        quiet: {
          watches: ["silences"],
          draw: () => maintenanceList(call, quiet, shown.stored.timezone),
        },
        shifts: section(() => agenda(call, shown)),
        cover: section(() => coverForm(call, shown)),
        would: section(() => coverWould(call, shown)),
        overrides: section(() => overrideList(call, shown)),
        addresses: { watches: ["people"], draw: () => calendarAddresses(call, shown) },
      },
      body: (put) =>
        html`${["holder", "swap", "ask", "range", "calendar", "shifts", "quiet"].map(put)}<div class="columns">${["cover", "would", "overrides", "addresses"].map(put)}</div>`,
    };
  },
  forms: { ...overrideActions, ask: askAction, ...calendarActions },
  files: { "shifts.ics": scheduleFile },
};

/** The shift that holds an instant, as long as it is: one's own to be given away, another's to be covered. */
async function atShift(call: PageCall, at: number): Promise<Elsewhere> {
  const { stored } = scheduleOf(call.tenant.store, call.params);
  const query = new URLSearchParams({ from: dateAt(stored.timezone, at) });
  const shown = await showSchedule({ ...call, query });
  const cut = shown.rows[0]?.blocks.find((one) => one.starts_at <= at && at < one.ends_at);
  const block = cut && shown.whole(cut);
  if (block === undefined || block.ends_at <= call.now) return { elsewhere: pageWith(shown, "") };
  const { account_id, starts_at, ends_at } = block;
  if (account_id === call.who.accountId)
    return { elsewhere: `${pageWith(shown, `swap=${starts_at}-${ends_at}`)}#swap` };
  const from = Math.max(starts_at, Math.floor(call.now / 60) * 60);
  return { elsewhere: `${pageWith(shown, `cover=${from}-${ends_at}`)}#cover` };
}

async function head(call: PageCall, { stored, path }: ShownSchedule): Promise<Markup> {
  const { base } = call;
  const seat = await seatNow(call, stored);
  const faces = await facesOf(call);
  return html`<div class="now-cards">${nowCard(call, seat, { faces, name: html`<b>On call now</b>` })}${gapCard(call, seat)}</div>
<p class="buttons"><a class="button second" href="#cover">Cover a time…</a><a class="button second" href="${base}${path}/layers">Layers…</a><a class="button second" href="${base}${path}/hand-over">Hand-over</a></p>${
    stored.shared && html`<p class="soft">Shared with every project.</p>`
  }${changesLink(call, "schedule", stored.id)}`;
}

/** The first gap of the fortnight, or that there is none. */
function gapCard(call: PageCall, { gaps, stored }: SeatNow): Markup {
  const { base, now, look } = call;
  const planned = plannedLink(call, stored);
  const [first, ...more] = gaps;
  const words =
    first === undefined
      ? html`<p class="now-who">No gap</p><p class="small soft">in the next ${LOOK_DAYS} days</p>`
      : html`<p class="now-who wrong">${stretchWords(first, look.zone)}</p><p class="small soft">${more.length > 0 && `and ${more.length} more in ${LOOK_DAYS} days · `}<a href="${base}${schedulePage(stored)}?shift=${first.starts_at}">Cover it</a>${planned && html` · ${planned}`}</p>`;
  const when = first && (first.starts_at <= now ? "now" : `in ${span(first.starts_at - now)}`);
  return html`<div class="card now-card"><p class="now-head"><b>${first === undefined ? "Gaps" : counted(gaps.length, "gap")}</b><span>${when}</span></p><div class="who-line">${squareChip(first === undefined ? "check" : "warn", null, "large")}<div>${words}</div></div></div>`;
}

function rangeLine(call: PageCall, shown: ShownSchedule): Markup {
  const { base, look, now, query } = call;
  const { range, path, stored } = shown;
  const count = range.days.length;
  const days = count === 14 ? "" : `&days=${count}`;
  const to = (date: string) => `${base}${path}?from=${date}${days}`;
  const step = (date: string, name: string, key: string, sign: "back" | "next") =>
    html`<a class="icon-button" href="${to(date)}"${keyed(key, name)} aria-label="${name}">${icon(sign, "small")}</a>`;
  const first = range.days[0]?.date ?? "";
  const from = query.get("from");
  const lengths = [7, 14, 28].map((length) => {
    const more = [from === null ? "" : `from=${first}`, length === 14 ? "" : `days=${length}`];
    const href = `${base}${pageWith({ path, keep: "" }, more.filter((part) => part !== "").join("&"))}`;
    return html`<a href="${href}"${length === count && html` aria-current="page"`}>${length / 7} ${length === 7 ? "week" : "weeks"}</a>`;
  });
  return html`<div class="range"><div class="buttons">${step(dateAfter(range, -count), "Previous", "ArrowLeft", "back")}<a class="button second" href="${base}${path}"${keyed("t", "Today")}>Today</a>${step(dateAfter(range, count), "Next", "ArrowRight", "next")}</div>
<strong>${rangeWords(range)}</strong><nav class="tabs" aria-label="How long">${lengths}</nav>${
    clocksDiffer(look.zone, stored.timezone, now) &&
    html`<span class="soft">${stored.timezone} (you: ${aheadWords(look.zone, stored.timezone, now)}, ${look.zone})</span>`
  }</div>`;
}

function calendar(
  call: PageCall,
  shown: ShownSchedule,
  quiet: readonly MaintenanceWindow[],
): Markup {
  const { base, now, who } = call;
  const { rows, range, stored, names, hues, path } = shown;
  return html`${calendarPlot({
    rows,
    range,
    names,
    hues,
    now,
    me: who.accountId,
    timezone: stored.timezone,
    label: `Who is on call, ${stored.project} / ${stored.name}`,
    head: (row) => rowHead(row, stored.timezone),
    whole: shown.whole,
    quiet: quiet.map((window) => ({ ...window, href: `${base}/silences/${window.silence}` })),
    pickTo: `${base}${pageWith(shown, "cover=")}`,
    href: (cut, row) => {
      const block = row.kind === "final" ? shown.whole(cut) : cut;
      if (row.kind === "layer") return `${base}${path}/layers#layer-${row.index}`;
      if (row.kind === "override") return `#override-${block.override_id ?? ""}`;
      if (cut.ends_at <= now) return `#shift-${cut.starts_at}`;
      const from = Math.max(block.starts_at, Math.floor(now / 60) * 60);
      return `${base}${pageWith(shown, `cover=${from}-${block.ends_at}`)}#cover`;
    },
  })}<p class="picking"><button type="button" class="second" data-pick aria-pressed="false">Pick on the calendar</button> <span class="soft small">or drag across “Who rings”. ${LAYERS_ARE} Here it stands above the other, and a cover beats both.</span></p>`;
}

const ROWS = {
  final: ["Who rings", ""],
  override: ["Covers", "on top"],
  layer: ["", "layer"],
} as const;

function rowHead(row: CalendarRow | null, timezone: string): Markup {
  if (row === null) return html`<span class="soft">${timezone}</span>`;
  const [name, about] = ROWS[row.kind];
  return html`<b>${name || row.name}</b>${about !== "" && row.name !== "Maintenance" && html` <span class="soft">${about}</span>`}`;
}
