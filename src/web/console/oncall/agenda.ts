import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import type { CalendarBlock } from "../ui/calendar-rows.ts";
import { button } from "../ui/form.ts";
import type { CalendarDay } from "../ui/local-time.ts";
import { pageWith, type ShownSchedule, stretchWords } from "../ui/schedule.ts";
import { dayOf, hourOf } from "../ui/times.ts";
import { yours } from "./now.ts";

/** The calendar in words: days as headings, shifts as rows, what can be done at each. */

export function agenda(call: PageCall, shown: ShownSchedule): Markup {
  const { range } = shown;
  const isPast = range.until <= call.now;
  const earlier = isPast ? [] : range.days.filter(({ until }) => until <= call.now);
  const days = range.days.slice(earlier.length);
  return html`<details id="shift-list" class="on-paper"><summary>As a list</summary>${
    earlier.length > 0 &&
    html`<details id="earlier"><summary>Earlier</summary>${agendaTable(call, shown, earlier)}</details>`
  }${agendaTable(call, shown, days)}${
    !shown.isWhole &&
    html`<p class="soft">There are too many changes to show. Choose fewer days.</p>`
  }</details>`;
}

function agendaTable(call: PageCall, shown: ShownSchedule, days: readonly CalendarDay[]): Markup {
  const blocks = shown.rows[0]?.blocks ?? [];
  const first = days[0]?.since ?? 0;
  return html`<table class="agenda">${days.map((day) => {
    const own = blocks.filter((at) => at.starts_at < day.until && at.ends_at > day.since);
    const begins = ({ starts_at }: CalendarBlock) => starts_at >= day.since || day.since === first;
    const name = html`${dayOf(day.since, shown.stored.timezone)}${
      call.now >= day.since && call.now < day.until && html` <span class="soft">today</span>`
    }`;
    const isWhole = (block: CalendarBlock) => !begins(block) && block.ends_at >= day.until;
    if (own.length > 0 && own.every(isWhole))
      return html`<tbody><tr class="agenda-quiet${own.some(isGap) && " agenda-gap"}"><th class="agenda-day" scope="row">${name}</th><td>${own.map(({ account_id }) => shown.names(account_id)).join(", ")}, all day</td></tr></tbody>
`;
    return html`<tbody><tr><th colspan="2" scope="rowgroup">${name}</th></tr>
${own.map((block) => {
  if (!begins(block)) return lastRow(shown, block, isWhole(block));
  const isFirst = blocks.find(({ starts_at }) => starts_at === block.starts_at) === block;
  const isLinked = isFirst && (block.starts_at >= first || first === shown.range.days[0]?.since);
  return firstRow(call, shown, { cut: block, isLinked });
})}</tbody>`;
  })}</table>`;
}

const isGap = ({ account_id }: CalendarBlock): boolean => account_id === null;

/** Where a shift begins, or its table does: of a shift that goes on from *Earlier* the row there is the one that is linked to. */
function firstRow(
  call: PageCall,
  shown: ShownSchedule,
  { cut, isLinked }: { cut: CalendarBlock; isLinked: boolean },
): Markup {
  const { names, stored } = shown;
  const block = shown.whole(cut);
  const { account_id, starts_at, layer, override_id } = block;
  const isNow = starts_at <= call.now && block.ends_at > call.now;
  return html`<tr${isLinked && html` id="shift-${cut.starts_at}"`}${account_id === null && html` class="agenda-gap"`}><td><strong>${account_id === null ? "Nobody" : names(account_id)}</strong>${
    account_id === call.who.accountId && html` (you)`
  } <span class="soft small">${[override_id !== null ? "cover" : (layer ?? ""), isNow ? "now" : "", block.away ? "away" : ""].filter((word) => word !== "").join(" · ")}</span><p>${stretchWords(block, stored.timezone)}</p>${yours(call, stored.timezone, block)}</td><td>${actions(call, shown, block)}</td></tr>
`;
}

/** The day on which one ends that began before, or that it has beside others. */
function lastRow({ names, stored }: ShownSchedule, block: CalendarBlock, isWhole: boolean): Markup {
  const when = isWhole ? "all day" : `until ${hourOf(block.ends_at, stored.timezone)}`;
  return html`<tr class="agenda-quiet${isGap(block) && " agenda-gap"}"><td colspan="2">${names(block.account_id)}, ${when}</td></tr>
`;
}

function actions(call: PageCall, shown: ShownSchedule, block: CalendarBlock): Piece {
  const { base, now, who } = call;
  const { account_id, starts_at, ends_at } = block;
  if (ends_at <= now) return null;
  const name = `${shown.names(account_id)}, ${stretchWords(block, shown.stored.timezone)}`;
  const at = `${Math.max(starts_at, Math.floor(now / 60) * 60)}-${ends_at}`;
  const cover = html`<a class="button second" href="${base}${pageWith(shown, `cover=${at}`)}#cover" data-key="c" aria-keyshortcuts="c" aria-label="Cover… ${name}">Cover…</a>`;
  if (account_id === who.accountId)
    return html`<div class="buttons">${cover}<a class="button second" href="${base}${pageWith(shown, `swap=${starts_at}-${ends_at}`)}#swap" aria-label="Swap or ask… ${name}">Swap or ask…</a></div>`;
  const take = account_id === null ? "Cover it: me" : "I take this shift";
  return html`<div class="buttons">${button(call, {
    action: `${shown.path}/take`,
    name: take,
    kind: "second",
    label: `${take}: ${name}`,
    fields: { starts_at: String(starts_at), ends_at: String(ends_at), keep: shown.keep },
  })}${cover}</div>`;
}
