import type { dayAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { clockTime, until } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

const MOST_HELD = 3;

/** What stands below the rail: what is held back, that nothing more comes, and what ends it by itself. */
export function ladderEnds(
  call: PageCall,
  shown: ShownAlert,
  { rungs, held }: ReturnType<typeof dayAhead>,
): Markup {
  if (shown.row.state === "resolved") return html``;
  return html`${rungs.length === 0 && nothingMore(call, shown)}${held.slice(0, MOST_HELD).map((one) => heldWords(call, one))}${ends(call, shown)}`;
}

/** Why something comes later than the ladder has it. */
function heldWords(
  call: PageCall,
  { at, until: over, reason }: ReturnType<typeof dayAhead>["held"][number],
): Markup {
  return html`<p class="soft">Quiet: what is due at ${clockTime(call, at)} waits until ${clockTime(call, over)} (${reason}).</p>`;
}

function nothingMore(call: PageCall, { row, rule, entries }: ShownAlert): Piece {
  if (row.state === "acknowledged") return false;
  if (rule === null)
    return html`<p class="warn">Nothing more will happen: its rule was deleted. Assign somebody.</p>`;
  if (rule.escalations.length === 0) {
    const add = remedy(call, pathOf("p", row.project, "rules", rule.name), "Add one");
    return html`<p class="warn">Nothing more will happen: the rule has no ladder.${add !== null && html` ${add}`}</p>`;
  }
  const last = entries.findLast(({ kind }) => kind === "escalated" || kind === "reached_nobody");
  return html`<p class="warn">Nothing more will happen: the ladder has run${
    last !== undefined && html` (last ${clockTime(call, last.at)})`
  }. <a href="#assign">Assign somebody</a></p>`;
}

/** What ends it by itself. */
function ends(call: PageCall, { row }: ShownAlert): Markup {
  const { quiet_at: quiet, expires_at: expires, wakes_at: wakes } = row;
  return html`${quiet !== null && html`<p class="soft">Without a further match it is resolved in ${until(call, quiet)}.</p>`}${
    expires !== null &&
    html`<p class="soft">Unless its sender reports it again it is resolved in ${until(call, expires)}.</p>`
  }${
    row.state === "acknowledged" &&
    wakes !== null &&
    html`<p class="warn">The acknowledgement ends in ${until(call, wakes)}.</p>`
  }`;
}
