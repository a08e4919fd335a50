import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen, Section } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { keyed } from "../ui/form.ts";
import { dateAfter } from "../ui/local-time.ts";
import {
  aheadWords,
  clocksDiffer,
  pageWith,
  type ShownSchedule,
  showSchedule,
} from "../ui/schedule.ts";
import { seatNow } from "../ui/seat-now.ts";
import { calendarActions, calendarAddresses } from "./addresses.ts";
import { agenda } from "./agenda.ts";
import { askAction, askForm } from "./ask.ts";
import { coverForm, coverWould } from "./cover.ts";
import { scheduleFile } from "./files.ts";
import { overrideActions } from "./form-actions.ts";
import { type MaintenanceWindow, maintenanceList, maintenanceWindows } from "./maintenance.ts";
import { holder } from "./now.ts";
import { overrideList } from "./override-list.ts";
import { calendarPlot } from "./plot.ts";
import { swapForm } from "./swap.ts";

/** One schedule: its calendar, its shifts in words, and how somebody is put on call for a while. */
export const scheduleScreen: Screen = {
  path: "/oncall/{project}/{schedule}",
  async view(call) {
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
        html`${["holder", "range", "calendar", "quiet", "swap", "ask"].map(put)}<div class="columns"><div>${put("shifts")}</div><div>${["cover", "would", "overrides", "addresses"].map(put)}</div></div>`,
    };
  },
  forms: { ...overrideActions, ask: askAction, ...calendarActions },
  files: { "shifts.ics": scheduleFile },
};

async function head(call: PageCall, { stored, names, path }: ShownSchedule): Promise<Markup> {
  const { dot, who } = await holder(call, await seatNow(call, stored), names);
  return html`<div class="who-item"><span class="dot dot-${dot}" aria-hidden="true"></span>${who}<p class="soft">${
    stored.shared && "shared with every project · "
  }<a href="${call.base}${path}/layers">Layers…</a></p></div><p class="soft"><a href="${call.base}${path}/hand-over">Hand-over</a></p>${changesLink(call, "schedule", stored.id)}`;
}

function rangeLine(call: PageCall, shown: ShownSchedule): Markup {
  const { base, look, now, query } = call;
  const { range, path, stored } = shown;
  const count = range.days.length;
  const days = count === 14 ? "" : `&days=${count}`;
  const to = (date: string) => `${base}${path}?from=${date}${days}`;
  const step = (date: string, name: string, key: string, sign: string) =>
    html`<a class="button second" href="${to(date)}"${keyed(key, name)} aria-label="${name}">${sign}</a>`;
  const [first, last] = [range.days[0]?.date ?? "", range.days.at(-1)?.date ?? ""];
  const from = query.get("from");
  const lengths = [7, 14, 28].map((length) => {
    const more = [from === null ? "" : `from=${first}`, length === 14 ? "" : `days=${length}`];
    const href = `${base}${pageWith({ path, keep: "" }, more.filter((part) => part !== "").join("&"))}`;
    return html`<a href="${href}"${length === count && html` aria-current="page"`}>${length / 7} ${length === 7 ? "week" : "weeks"}</a>`;
  });
  return html`<div class="range"><div class="buttons">${step(dateAfter(range, -count), "Previous", "ArrowLeft", "‹")}<a class="button second" href="${base}${path}"${keyed("t", "Today")}>Today</a>${step(dateAfter(range, count), "Next", "ArrowRight", "›")}</div>
<strong>${dates(first, last)}</strong><nav class="tabs" aria-label="How long">${lengths}</nav><span class="soft">${stored.timezone}${
    clocksDiffer(look.zone, stored.timezone, now) &&
    ` (you: ${aheadWords(look.zone, stored.timezone, now)}, ${look.zone})`
  }</span></div>`;
}

const DATE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** "16 – 29 Nov 2026". */
const dates = (first: string, last: string): string =>
  DATE.formatRange(new Date(`${first}T00:00Z`), new Date(`${last}T00:00Z`));

function calendar(
  call: PageCall,
  shown: ShownSchedule,
  quiet: readonly MaintenanceWindow[],
): Markup {
  const { base, now, who } = call;
  const { rows, range, stored, names, path } = shown;
  return html`<div class="wide-only">${calendarPlot({
    rows,
    range,
    names,
    now,
    me: who.accountId,
    timezone: stored.timezone,
    label: `Who is on call, ${stored.project} / ${stored.name}`,
    id: "cal",
    left: 11,
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
  })}<p class="picking"><button type="button" class="second" data-pick aria-pressed="false">Pick on the calendar</button> <span class="soft">or drag across “final”</span></p></div>`;
}
