import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { facesOf, squareChip } from "../ui/faces.ts";
import { button } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { moment, nowCard } from "../ui/now-card.ts";
import { counted } from "../ui/pieces.ts";
import {
  clocksDiffer,
  LOOK_DAYS,
  type SeatNow,
  schedulePage,
  stretchWords,
} from "../ui/schedule.ts";
import { span } from "../ui/times.ts";

const DAY = 86_400;
/** Of all schedules: the rest is folded. */
const MOST_GAPS = 3;

/** Each schedule: who has it, until when, whether the box reaches them, who is next. */
export async function nowCards(call: PageCall, seats: readonly SeatNow[]): Promise<Markup> {
  const faces = await facesOf(call);
  return html`<h2 class="hidden-text">On call now</h2><div class="now-cards">${seats.map((seat) => {
    const { stored } = seat;
    const name = html`<a href="${call.base}${schedulePage(stored)}">${stored.project} / ${stored.name}</a>`;
    return nowCard(call, seat, { faces, name });
  })}</div>`;
}

/** Where nobody is on call in the next fortnight, and somebody was promised. */
export async function gapNote(call: PageCall, seats: readonly SeatNow[]): Promise<Markup> {
  const all = seats
    .flatMap(({ stored, gaps }) => gaps.map((gap) => ({ stored, gap })))
    .sort((a, b) => a.gap.starts_at - b.gap.starts_at);
  if (seats.length === 0) return html``;
  if (all.length === 0)
    return html`<p class="soft">No gap in the next ${LOOK_DAYS} days: somebody has every hour that is promised.</p>`;
  const me = call.who.accountId;
  const isReached = (await facesOf(call, me))(me).proof !== "none";
  const rows = all.map((one) => gapRow(call, one));
  const [shown, more] = [rows.slice(0, MOST_GAPS), rows.slice(MOST_GAPS)];
  return html`<div class="notice notice-wrong"><h2>${icon("warn")} ${counted(all.length, "gap")} in the next ${LOOK_DAYS} days</h2><p class="small">“I cover it” puts you on call for those hours at once, and you can undo it. “Cover…” shows it first.${!isReached && html` <a class="crit" href="${call.base}/me/devices">Nothing reaches you yet.</a>`}</p><ul class="who">${shown}</ul>${
    more.length > 0 &&
    html`<details id="more-gaps"><summary>${counted(more.length, "more gap")}</summary><ul class="who">${more}</ul></details>`
  }</div>`;
}

function gapRow(call: PageCall, of: { stored: SeatNow["stored"]; gap: SeatNow["gaps"][number] }) {
  const planned = plannedLink(call, of.stored);
  const { starts_at, ends_at } = of.gap;
  const path = schedulePage(of.stored);
  const name = `${of.stored.project} / ${of.stored.name}`;
  // One that reaches the end of what was looked at goes on, for all that is known.
  const goesOn = ends_at === call.now + LOOK_DAYS * DAY;
  const all = stretchWords(of.gap, call.look.zone);
  const words = goesOn ? `from ${all.split(" – ")[0]}` : all;
  return html`<li class="who-item"><p class="who-text"><b>${name}</b><br><span class="small">${words}${!goesOn && `, ${span(ends_at - starts_at)}`}${planned && html`<br>${planned}`}</span></p><div class="buttons">${button(
    call,
    {
      action: `${path}/take`,
      name: "I cover it",
      kind: "second",
      label: `I cover it: ${name}, ${words}`,
      fields: { starts_at: String(starts_at), ends_at: String(ends_at) },
    },
  )}<a class="button second" href="${call.base}${path}?shift=${starts_at}" aria-label="Cover… ${name}, ${words}">Cover…</a></div></li>
`;
}

/** Where a schedule whose layers all have hours promises every hour all the same: the way to say that it needn't. */
export function plannedLink({ base }: PageCall, stored: SeatNow["stored"]): Piece {
  const { covers, layers } = stored;
  if (covers === "hours" || layers.some(({ restriction }) => restriction === null)) return false;
  return html`<a href="${base}${schedulePage(stored)}/layers#covers">Planned? Say so</a>`;
}

/** The reader's own next shift, and the way to give it away. */
export function nextShift(call: PageCall, seats: readonly SeatNow[]): Markup {
  const [first] = seats
    .flatMap(({ stored, mine }) => (mine === null ? [] : [{ stored, mine }]))
    .sort((a, b) => a.mine.starts_at - b.mine.starts_at);
  if (first === undefined)
    return html`<p class="soft">No shift of yours begins in the next ${LOOK_DAYS} days.</p>`;
  const { stored, mine } = first;
  const path = schedulePage(stored);
  const name = `${stored.project} / ${stored.name}`;
  return html`<a class="duty-strip" href="${call.base}${path}?shift=${mine.starts_at}">${squareChip("swap")}<span><b>Your next shift</b> in ${span(mine.starts_at - call.now)}<br><span class="small soft">${name}, ${moment(call, stored.timezone, mine.starts_at)} · swap or ask</span></span>${icon("next", "small")}</a>`;
}

/** The same hours on the reader's clock, where it shows others. */
export function yours(
  { look }: PageCall,
  timezone: string,
  at: { starts_at: number; ends_at: number },
): Markup | null {
  if (!clocksDiffer(look.zone, timezone, at.starts_at)) return null;
  return html`<p class="soft small">yours: ${stretchWords(at, look.zone)}</p>`;
}
