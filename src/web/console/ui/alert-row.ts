import type { AlertRow } from "../../../core/alerts/alert.ts";
import type { Apart } from "../../../core/alerts/apart.ts";
import { latestMinutes } from "../../../core/alerts/buckets.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import type { NowWords } from "./alert-now.ts";
import { STATE_CLASS } from "./alert-pieces.ts";
import { button } from "./form.ts";
import { icon } from "./icon.ts";
import { levelBadge, levelKind } from "./level.ts";
import { aboutText, markedTitle } from "./message.ts";
import { sparkline } from "./plot.ts";
import { stayingRow } from "./staying-row.ts";
import { ago, since } from "./times.ts";

/** An alert as a list shows it, and what it shows beside the alert. */
interface ListRow {
  row: AlertRow;
  /** Its address. */
  to: string;
  /** It stands beside the list. */
  isChosen: boolean;
  /** What the ladder does now, or what became of it. */
  now: NowWords;
  /** Events of the last minutes, newest last; empty: none are drawn. */
  minutes: readonly number[];
  /** What tells it from its siblings. */
  apart: Apart | undefined;
  /** It left the list that is shown. */
  isGone: boolean;
  /** It is the worst of those that ring the reader: the one that is to be taken. */
  isFirst: boolean;
}

const MINUTES = 60;

/** The last hour of each alert, or since its opening; of what was quiet for so long there is none. */
export function minutesOfAll(
  { tenant, now }: PageCall,
  rows: readonly AlertRow[],
): ReadonlyMap<number, readonly number[]> {
  const ids = rows.filter(({ last_seen }) => last_seen >= now - MINUTES * 60).map(({ id }) => id);
  return latestMinutes(tenant.store, ids, { at: now, most: MINUTES });
}

/** One card. Pure. */
export function listRow(
  call: Pick<PageCall, "base" | "now" | "look" | "who" | "rows">,
  of: ListRow,
): Markup {
  const { row, to, now, minutes, apart, isGone, isFirst, isChosen } = of;
  const { id, state, level, project, count } = row;
  const names = aboutText(row, apart);
  const look = row.silenced_by !== null && state === "open" ? "silenced" : STATE_CLASS[state];
  const card = {
    id: `row-${id}`,
    look: `row-${look} of-${levelKind(level)}${isFirst ? " row-first" : ""}`,
    isGone,
  };
  return stayingRow(
    call,
    card,
    html`<label class="pick"><input type="checkbox" form="bulk" name="id" value="${id}" aria-label="Select #${id}"></label>
<div class="row-head">${levelBadge(level)}<span class="row-place">${project}</span>${minutes.length > 0 && sparkline(minutes)}<b class="row-count">${count}×</b><span class="row-age">${state === "open" ? since(call, row.opened_at) : ago(call, row.last_seen)}</span></div>
<h2 class="row-title"><a class="message" href="${to}"${isChosen && html` aria-current="page"`} dir="auto">${markedTitle(row)}</a></h2>
<p class="row-about">${names !== "" && `${names} · `}#${id}${row.drill !== 0 && " · drill"}</p>
<div class="row-foot">${now.mark}<p class="row-next">${now.words}</p><span class="row-actions">${!isGone && action(call, of)}</span></div>`,
  );
}

/** One button at most; where it stood nothing is pressed any more, since a tap may come twice. */
function action(call: Pick<PageCall, "base" | "who">, { row, isFirst }: ListRow): Piece {
  const { id, state, silenced_by } = row;
  if (state === "resolved" || (state === "open" && silenced_by !== null)) return false;
  if (state === "acknowledged")
    return html`<span class="taken${row.acked_by === call.who.accountId && " taken-own"}">${icon("check", "small")}<span>Taken</span></span>`;
  const name = "Acknowledge";
  const label = `${name} #${id}`;
  const kind = isFirst ? "" : "second";
  return button(call, { action: `/a/${id}/ack`, name, key: "a", label, kind });
}
