import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { chip, type Face, type Faces, proofWords, squareChip } from "./faces.ts";
import { clocksDiffer, LOOK_DAYS, type SeatNow } from "./schedule.ts";
import { dayOf, exact, hourOf, span, timeOnClock } from "./times.ts";
import { unconfirmedHolder } from "./unconfirmed.ts";

/** One schedule's. `name`: what stands above. */
export function nowCard(
  call: PageCall,
  seat: Pick<SeatNow, "current" | "next"> & {
    stored: Pick<SeatNow["stored"], "project" | "name" | "timezone">;
  },
  { faces, name }: { faces: Faces; name: Markup },
): Markup {
  const { current, next, stored } = seat;
  const { timezone } = stored;
  if (!current.on_call) {
    const then = current.next;
    const when =
      then && html`${current.off ? "starts" : "until"} ${moment(call, timezone, then.starts_at)}`;
    const who = current.off
      ? html`<p class="now-who">Nobody, as planned</p>`
      : html`<p class="now-who wrong">Nobody</p>`;
    return card({
      head: html`${name}<span>${current.off ? "off hours" : html`<b class="wrong">a gap</b>`}</span>`,
      chip: squareChip(current.off ? "moon" : "warn", null, "large"),
      who: html`${who}<p class="small soft">${when}</p>`,
      next:
        then === null ? html`Nobody is next` : html`next ${named(call, faces(then.account_id))}`,
    });
  }
  const face = faces(current.account_id);
  const until =
    current.ends_at === null
      ? html`for more than a year`
      : html`until ${moment(call, timezone, current.ends_at)}, ${span(current.ends_at - call.now)} left`;
  const others = current.accounts.slice(1).map((one) => faces(one.account_id));
  const after =
    next === null
      ? html`the same for ${LOOK_DAYS} days`
      : next.account_id === null
        ? html`then <b class="wrong">nobody</b>`
        : html`then ${named(call, faces(next.account_id))}`;
  return card({
    head: html`${name}<span>now</span>`,
    chip: chip(face, { size: "large" }),
    who: html`<p class="now-who">${isMe(call, face) ? "You" : face.name}</p><p class="small soft">${until}</p><p class="small">${proofLine(call, face, stored)}</p>${others.map(
      (other) =>
        html`<p class="small">with ${named(call, other)} · ${proofLine(call, other, stored)}</p>`,
    )}`,
    next: after,
  });
}

const isMe = ({ who }: PageCall, { id }: Face): boolean => id === who.accountId;

const named = (call: PageCall, face: Face): Markup =>
  html`${chip(face, { size: "small", dot: false })} ${isMe(call, face) ? "you" : face.name}${face.proof === "none" && html` <span class="crit">nothing reaches ${isMe(call, face) ? "you" : "them"}</span>`}`;

function card(of: { head: Markup; chip: Markup; who: Markup; next: Markup }): Markup {
  return html`<div class="card now-card"><p class="now-head">${of.head}</p><div class="who-line">${of.chip}<div>${of.who}</div></div><p class="now-next">${of.next}</p></div>
`;
}

/** Whether the box has proof that it reaches them, and where that is mended. */
function proofLine(call: PageCall, face: Face, of: { project: string; name: string }): Markup {
  const { project, name } = of;
  const unconfirmed = unconfirmedHolder(call, { project, name, account: face.id });
  const path = isMe(call, face) ? "/me/devices" : pathOf("people", face.id);
  const mend =
    face.proof === "proved" && unconfirmed === null
      ? null
      : html` · <a href="${call.base}${path}">${isMe(call, face) ? "Prove it" : "Mend it"}</a>`;
  const words =
    face.proof === "none" && isMe(call, face)
      ? html`<span class="crit">nothing reaches you</span>`
      : proofWords(call, face);
  return html`${unconfirmed ?? words}${mend}`;
}

/** A time on the reader's clock: "10:00", with its day where that isn't today; in brackets on the schedule's, where that shows another. */
export function moment(call: PageCall, timezone: string, at: number): Markup {
  const { look } = call;
  const there = () => {
    const day = dayOf(at, timezone);
    const hour = hourOf(at, timezone);
    return `${day === dayOf(at, look.zone) ? hour : `${day} ${hour}`} ${timezone.replace(/^.*\//, "").replaceAll("_", " ")}`;
  };
  const isOther = clocksDiffer(look.zone, timezone, at);
  return html`<time datetime="${new Date(at * 1000).toISOString()}" title="${exact(at, look.zone)}">${timeOnClock(call, at)}</time>${isOther && ` (${there()})`}`;
}
