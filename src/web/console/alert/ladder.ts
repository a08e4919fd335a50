import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { dayAhead, type RungAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { facesOf } from "../ui/faces.ts";
import { counted } from "../ui/pieces.ts";
import { gapRow, type OnLadder, reachSaid, rungRow } from "../ui/rung-rows.ts";
import { clockTime, until } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Times that reach nobody are rungs, too: so many of them. */
const MOST_GAPS = 3;

/** One rail: who was told and by what, who saw it, who is next and when. Live. */
export async function ladderSection(call: PageCall, shown: ShownAlert): Promise<Markup> {
  const { row, rule } = shown;
  const { store } = call.tenant;
  const all = readReach(store, row.id, call.now);
  const course =
    row.state === "resolved" ? { rungs: [], held: [] } : dayAhead(store, row, call.now);
  const faces = await facesOf(call);
  const { people, loose } = grouped(shown, all, course.rungs);
  const isUntold = (one: OnLadder) =>
    one.ahead.length === 0 && one.entries.every(({ reason }) => NOT_PAGED.has(reason));
  const untold = people.filter(isUntold);
  const rungs = people.filter((one) => !isUntold(one));
  const next = course.rungs.find(
    ({ accounts, why }) => accounts.length > 0 && why !== "repeat" && why !== "renotify",
  );
  const gaps = course.rungs.filter(({ accounts }) => accounts.length === 0).slice(0, MOST_GAPS);
  const why =
    rule !== null &&
    remedy(call, pathOf("p", row.project, "rules", rule.name, "ladder"), "The whole ladder");
  const acted = new Set(shown.entries.flatMap(({ account_id }) => account_id ?? []));
  const told = { ...shown, acted };
  const of = { faces, next: row.state === "open" ? next : undefined };
  return html`<div class="card-head"><h2>Ladder</h2>${why}</div>
<ol class="rail">${rungs.map((one) => rungRow(call, told, one, of))}${gaps.map((gap) => gapRow(call, gap))}</ol>
${loose.map((entry) => {
  const { words, change } = reachSaid(call, shown, entry);
  return html`<p class="notice${entry.reason === "no_ladder" && " notice-warn"}">${words}${change !== null && html` ${change}`}</p>`;
})}${untoldLine(call, shown, untold)}${ladderEnds(call, shown, course)}`;
}

/** They are on no rung that comes, so that the rail has no row for them. */
const NOT_PAGED: ReadonlySet<ReachEntry["reason"]> = new Set([
  "not_on_call",
  "covered_by_override",
]);

/** People in the order in which they were told or will be, then channels. */
function grouped({ nameOf }: ShownAlert, all: readonly ReachEntry[], rungs: readonly RungAhead[]) {
  const people = new Map<string, OnLadder>();
  const channels = new Map<string, OnLadder>();
  const loose: ReachEntry[] = [];
  for (const entry of all) {
    const { account_id: account, integration_id } = entry;
    const id = account ?? integration_id;
    if (id === null) {
      loose.push(entry);
      continue;
    }
    const into = account === null ? channels : people;
    const known = into.get(id);
    if (known !== undefined) known.entries.push(entry);
    else {
      const name = entry.name ?? "Somebody who was removed";
      into.set(id, { id: `who-${id}`, name, account, entries: [entry], ahead: [] });
    }
  }
  for (const rung of rungs)
    for (const account of rung.accounts) {
      const one = people.get(account);
      if (one !== undefined) one.ahead.push(rung);
      else
        people.set(account, {
          id: `who-${account}`,
          name: nameOf(account),
          account,
          entries: [],
          ahead: [rung],
        });
    }
  return { people: [...people.values(), ...channels.values()], loose };
}

/** Those who were not paged and are on no later rung, with the reason of each. */
function untoldLine(call: PageCall, shown: ShownAlert, untold: readonly OnLadder[]): Piece {
  if (untold.length === 0) return false;
  return html`<details id="untold"><summary>${counted(untold.length, "person", "people")} not paged · Why?</summary><ul>${untold.map(
    ({ id, name, entries }) =>
      html`<li id="${id}"><b>${name}</b>: ${entries.map((entry) => {
        const { words, change } = reachSaid(call, shown, entry);
        return html`${words}${change !== null && html` · ${change}`} `;
      })}</li>`,
  )}</ul></details>`;
}

const MOST_HELD = 3;

/** What stands below the rail: what is held back, that nothing more comes, and what ends it by itself. */
function ladderEnds(
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
