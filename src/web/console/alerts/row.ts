import type { AlertRow } from "../../../core/alerts/alert.ts";
import type { Apart } from "../../../core/alerts/apart.ts";
import { latestMinutes } from "../../../core/alerts/buckets.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { criticalToo, STATE_CLASS } from "../ui/alert-pieces.ts";
import { button } from "../ui/form.ts";
import { levelBadge } from "../ui/level.ts";
import { aboutText, markedTitle } from "../ui/message.ts";
import { sparkline } from "../ui/plot.ts";
import { ago, since } from "../ui/times.ts";

/** An alert as a list shows it, and what it shows beside the alert. */
export interface ListRow {
  row: AlertRow;
  /** What the ladder does now, or what became of it. */
  now: Markup;
  /** Events of the last minutes, newest last; empty: none are drawn. */
  minutes: readonly number[];
  /** What tells it from its siblings. */
  apart: Apart | undefined;
  /** It left the list that is shown. */
  isGone: boolean;
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

/** One row: two lines at a desk, four on a phone. Pure. */
export function listRow(call: Pick<PageCall, "base" | "now" | "look">, of: ListRow): Markup {
  const { row, now, minutes, apart, isGone } = of;
  const { id, state, level, project, rule, count } = row;
  const names = aboutText(row, apart);
  const look = row.silenced_by !== null && state === "open" ? "silenced" : STATE_CLASS[state];
  return html`<li class="row row-${look}" id="row-${id}" data-row${isGone && html` data-gone`}>
<label class="pick"><input type="checkbox" form="bulk" name="id" value="${id}" aria-label="Select #${id}"></label>
<span class="row-head">${levelBadge(level)}</span>
<span class="row-title"><a class="message" href="${call.base}/a/${id}" dir="auto">${markedTitle(row)}</a></span>
<span class="row-about">${project} · ${rule}${names !== "" && ` · ${names}`} · #${id}${row.drill !== 0 && " · drill"}</span>
<span class="row-plot">${minutes.length > 0 && sparkline(minutes)}</span>
<span class="row-count">${count} ×</span>
<span class="row-age">${state === "open" ? since(call, row.opened_at) : ago(call, row.last_seen)}</span>
<span class="row-next">${now}</span>
<span class="row-actions">${!isGone && rowActions(call, row)}</span>
</li>
`;
}

function rowActions(call: Pick<PageCall, "base">, { id, state, level }: AlertRow): Piece {
  if (state === "resolved") return false;
  const critical = criticalToo(level >= CRITICAL);
  const form = (what: string, name: string, more: Piece = null) =>
    html`<li><form method="post" action="${call.base}/a/${id}/${what}">${more}<button>${name}</button></form></li>`;
  // Where Ack stood nothing is pressed any more: a tap may come twice.
  const place =
    state === "open"
      ? button(call, { action: `/a/${id}/ack`, name: "Ack", key: "a", label: `Ack #${id}` })
      : html`<span class="taken">Taken</span>`;
  return html`${place}<details class="menu" id="menu-${id}"><summary class="button second" data-key="." aria-label="More for #${id}" title="More (.)">⋯</summary><ul>${form("resolve", "Resolve")}${
    state === "acknowledged" && form("unack", "Un-acknowledge")
  }${form("escalate", "Escalate now")}${form("silence", `Silence 1 h${critical.words}`, html`${critical.field}<input type="hidden" name="hours" value="1">`)}<li><a href="${call.base}/a/${id}#note-text">Note</a></li></ul></details>`;
}
