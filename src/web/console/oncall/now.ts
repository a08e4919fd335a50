import { html, type Markup } from "../../../ground/kit/html.ts";
import { getAccount } from "../../../people/accounts.ts";
import type { PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { dateAt } from "../ui/local-time.ts";
import { type PeopleNames, peopleNames } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { reached } from "../ui/reached.ts";
import { clocksDiffer, schedulePage, stretchWords } from "../ui/schedule.ts";
import { LOOK_DAYS, type SeatNow } from "../ui/seat-now.ts";
import { span } from "../ui/times.ts";
import { unconfirmedHolder } from "./unconfirmed.ts";

const DAY = 86_400;
/** Of one schedule: the rest stand on its page. */
const MOST_GAPS = 5;

/** Where nobody is on call in the next fortnight: above everything. */
export function gapList(call: PageCall, seats: readonly SeatNow[]): Markup {
  const open = seats.filter(({ gaps }) => gaps.length > 0);
  if (seats.length === 0) return html``;
  if (open.length === 0)
    return html`<p class="good">✓ Somebody is on call everywhere for the next ${LOOK_DAYS} days.</p>`;
  const count = open.reduce((sum, { gaps }) => sum + gaps.length, 0);
  return html`<div class="notice notice-wrong"><h2>Nobody is on call in ${counted(count, "gap")} of the next ${LOOK_DAYS} days</h2><ul class="who">${open.flatMap(
    (seat) => seatGaps(call, seat),
  )}</ul></div>`;
}

function seatGaps(call: PageCall, { stored, gaps }: SeatNow): Markup[] {
  const { base } = call;
  const path = schedulePage(stored);
  const name = `${stored.project} / ${stored.name}`;
  const rows = gaps.slice(0, MOST_GAPS).map((gap) => {
    const { starts_at, ends_at } = gap;
    // One that reaches the end of what was looked at goes on, for all that is known.
    const goesOn = ends_at === call.now + LOOK_DAYS * DAY;
    const all = stretchWords(gap, stored.timezone);
    const words = goesOn ? `from ${all.split(" – ")[0]}` : all;
    const cover = `${base}${path}?from=${dateAt(stored.timezone, starts_at)}&cover=${starts_at}-${ends_at}#cover`;
    return html`<li class="who-item"><div><p><strong>${name}</strong>: nobody <span class="wrong">${words}</span>${!goesOn && html` (${span(ends_at - starts_at)})`}</p>${yours(call, stored.timezone, gap)}</div><div class="buttons">${button(
      call,
      {
        action: `${path}/take`,
        name: "Cover it: me",
        kind: "second",
        label: `Cover it: me, ${name}, ${words}`,
        fields: { starts_at: String(starts_at), ends_at: String(ends_at) },
      },
    )}<a class="button second" href="${cover}" aria-label="Cover… ${name}, ${words}">Cover…</a></div></li>
`;
  });
  const left = gaps.length - rows.length;
  if (left === 0) return rows;
  return [
    ...rows,
    html`<li class="who-item"><a href="${base}${path}">${counted(left, "more gap")} of ${name}</a></li>`,
  ];
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

/** Each schedule: who, how they are reached, until when, who is next. */
export async function nowList(call: PageCall, seats: readonly SeatNow[]): Promise<Markup> {
  const names = peopleNames(call.tenant.store);
  const items: Markup[] = [];
  for (const seat of seats) items.push(await seatItem(call, seat, names));
  return html`<h2>On call now</h2><ul class="who">${items}</ul>`;
}

async function seatItem(call: PageCall, seat: SeatNow, names: PeopleNames): Promise<Markup> {
  const { stored } = seat;
  const { dot, who } = await holder(call, seat, names);
  return html`<li class="who-item"><span class="dot dot-${dot}" aria-hidden="true"></span><div><p><a href="${call.base}${schedulePage(stored)}">${stored.project} / ${stored.name}</a></p>${who}</div></li>
`;
}

/** Who has a schedule now, for its line here and for the head of its page. */
export async function holder(
  call: PageCall,
  { stored, current, next }: SeatNow,
  names: PeopleNames,
): Promise<{ dot: string; who: Markup }> {
  const { timezone } = stored;
  if (!current.on_call) {
    const then = current.next;
    const after =
      then === null
        ? html` Nobody is next.`
        : html` <span class="soft">→ ${names(then.account_id)}, ${moment(call, timezone, then.starts_at)}</span>`;
    if (current.off)
      return { dot: "none", who: html`<p class="duty">Nobody, outside of its hours.${after}</p>` };
    return {
      dot: "none",
      who: html`<p class="duty"><strong class="wrong">Nobody.</strong>${after}</p>`,
    };
  }
  const account = getAccount(call.tenant.store, current.account_id);
  const { dot, word } = await reached(call, account);
  const { project, name } = stored;
  const unconfirmed = unconfirmedHolder(call, { project, name, account: account.id });
  const until =
    current.ends_at === null
      ? html`for more than a year`
      : html`until ${moment(call, timezone, current.ends_at)} <span class="soft">(in ${span(current.ends_at - call.now)})</span>`;
  const after =
    next === null
      ? null
      : next.account_id === null
        ? html` → <strong class="wrong">nobody</strong>`
        : html` → ${names(next.account_id)}`;
  return {
    dot: unconfirmed === null ? dot : "waiting",
    who: html`<p class="duty"><strong>${names(current.account_id)}</strong>${current.account_id === call.who.accountId && " (you)"} <span class="soft">${word}</span>${unconfirmed} ${until}${after}</p>`,
  };
}

/** A time on the schedule's clock; where the reader's shows another, which clock that is, and the same on theirs. */
function moment({ look }: PageCall, timezone: string, at: number): Markup {
  const on = (zone: string) => stretchWords({ starts_at: at, ends_at: at }, zone).split(" – ")[0];
  const isOther = clocksDiffer(look.zone, timezone, at);
  const yours = isOther && html` <span class="soft">${timezone}, yours: ${on(look.zone)}</span>`;
  return html`<time datetime="${new Date(at * 1000).toISOString()}" title="${timezone}">${on(timezone)}</time>${yours}`;
}
