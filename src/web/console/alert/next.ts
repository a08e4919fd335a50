import { dayAhead, type RungAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { counted } from "../ui/pieces.ts";
import { clockTime, until } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

const SHOWN = 6;
const MOST_HELD = 3;

/** What happens next if nobody does anything: each rung with its countdown. */
export function nextUp(call: PageCall, shown: ShownAlert): Markup {
  const { row } = shown;
  if (row.state === "resolved")
    return html`<h2>Next</h2><p class="soft">Nothing: it is resolved.</p>`;
  const { rungs, held } = dayAhead(call.tenant.store, row, call.now);
  const rest = rungs.length - SHOWN;
  return html`<h2>Next</h2>
${
  rungs.length === 0
    ? nothingMore(call, shown)
    : html`<ol class="next">${rungs.slice(0, SHOWN).map((rung) => html`<li>${rungWords(call, shown, rung)}</li>`)}</ol>${
        rest > 0 &&
        html`<p class="soft" id="next-rest">and ${counted(rest, "more time")} within a day</p>`
      }`
}${held.slice(0, MOST_HELD).map((one) => heldWords(call, one))}${ends(call, shown)}`;
}

/** Why something comes later than the ladder has it. */
function heldWords(
  call: PageCall,
  { at, until: over, reason }: ReturnType<typeof dayAhead>["held"][number],
): Markup {
  return html`<p class="soft">Silenced: what is due at ${clockTime(call, at)} waits until ${clockTime(call, over)} (${reason}).</p>`;
}

const WHY: Readonly<Record<RungAhead["why"], string>> = {
  step: "",
  repeat: " again",
  renotify: " told again",
  nobody_reached_before: ", as nobody before is reached",
  fallback: ", as nobody on the ladder is reached",
};

function rungWords(call: PageCall, { nameOf }: ShownAlert, rung: RungAhead): Markup {
  const { at, step, why, accounts, schedules } = rung;
  const who =
    accounts.length === 0
      ? html`<span class="wrong">reaches nobody</span>`
      : html`<strong>${accounts.map(nameOf).join(", ")}</strong>${WHY[why]}`;
  const by = why === "renotify" ? "" : schedules.length > 0 ? ` (${schedules.join(", ")})` : "";
  return html`${clockTime(call, at)} · in ${until(call, at)} · step ${step}: ${who}${by}`;
}

function nothingMore(call: PageCall, { row, rule, entries, nameOf }: ShownAlert): Markup {
  if (row.state === "acknowledged") {
    const ack = entries.findLast(({ kind }) => kind === "acknowledged");
    const who = ack?.account_id ? nameOf(ack.account_id) : "Somebody";
    return html`<p class="soft">Nothing: ${who} has it.</p>`;
  }
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
