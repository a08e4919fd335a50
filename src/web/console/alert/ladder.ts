import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { dayAhead, type RungAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { chip, type Faces, facesOf, squareChip } from "../ui/faces.ts";
import { button } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { counted } from "../ui/pieces.ts";
import { reachWords } from "../ui/reach-words.ts";
import { clockTime, until } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import { ladderEnds } from "./ladder-ends.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** What is said of somebody, or of a channel, together. */
export interface Asked {
  id: string;
  name: string;
  account: string | null;
  entries: ReachEntry[];
  /** When the ladder comes to them, in order. */
  ahead: RungAhead[];
}

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
  const isUntold = (one: Asked) =>
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
  const of = { faces, next: row.state === "open" ? next : undefined };
  return html`<div class="card-head"><h2>Ladder</h2>${why}</div>
<ol class="rail">${rungs.map((one) => rungRow(call, shown, one, of))}${gaps.map((gap) => gapRow(call, gap))}</ol>
${loose.map((entry) => {
  const { words, change } = said(call, shown, entry);
  return html`<p class="notice${entry.reason === "no_ladder" && " notice-warn"}">${words}${change !== null && html` ${change}`}</p>`;
})}${untoldLine(call, shown, untold)}${ladderEnds(call, shown, course)}`;
}

const said = (
  call: PageCall,
  { row, nameOf }: Pick<ShownAlert, "row" | "nameOf">,
  entry: ReachEntry,
) => reachWords(entry, call, { project: row.project, rule: row.rule, nameOf });

/** They are on no rung that comes, so that the rail has no row for them. */
const NOT_PAGED: ReadonlySet<ReachEntry["reason"]> = new Set([
  "not_on_call",
  "covered_by_override",
]);

/** People in the order in which they were told or will be, then channels. */
function grouped(
  { nameOf }: ShownAlert,
  all: readonly ReachEntry[],
  rungs: readonly RungAhead[],
): { people: Asked[]; loose: ReachEntry[] } {
  const people = new Map<string, Asked>();
  const channels = new Map<string, Asked>();
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

export interface Around {
  faces: Faces;
  /** The rung that comes next. */
  next: RungAhead | undefined;
}

type Standing = { look: string; right: Piece; more?: Piece };

export function rungRow(
  call: PageCall,
  shown: Pick<ShownAlert, "row" | "nameOf">,
  one: Asked,
  around: Around,
): Markup {
  const { account, name, entries, ahead } = one;
  const standing = standingOf(call, shown, one, around);
  const isRung = standing.look.includes("rung-now");
  const mark =
    account === null
      ? squareChip("hash")
      : chip(around.faces(account), { rings: isRung, dot: standing.look !== "rung-off" });
  const again = ahead.find(({ why }) => why === "repeat" || why === "renotify");
  const ways = entries.flatMap((entry) => {
    // Its time stands at the right.
    if (entry.reason === "step_not_reached" && ahead.length > 0) return [];
    const { words, change } = said(call, shown, entry);
    const by = [entry.via, entry.address].filter((part) => part !== null).join(" ");
    return [html`${by !== "" && `${by} `}${words}${change !== null && html` · ${change}`}`];
  });
  const next = around.next !== undefined && ahead[0] === around.next;
  return html`<li class="${standing.look}" id="${one.id}">${mark}<p><b>${account === call.who.accountId ? "You" : name}</b>${standing.more !== undefined && html` <span class="soft">${standing.more}</span>`}</p><span class="rung-when">${standing.right}</span><div class="rung-ways">${ways.map(
    (words) => html`<span>${words}</span>`,
  )}${again !== undefined && html`<span>again at ${clockTime(call, again.at)}</span>`}${next && standing.look === "rung-later" && account !== null && pageNow(call, shown, { account, name })}</div></li>
`;
}

const has = (entries: readonly ReachEntry[], ...reasons: ReachEntry["reason"][]) =>
  entries.find(({ reason }) => reasons.includes(reason));

const when = (call: PageCall, at: number | null): Piece => at !== null && clockTime(call, at);

/** How it stands with one: what the row is drawn as, and what stands at its right. */
function standingOf(
  call: PageCall,
  { row }: Pick<ShownAlert, "row">,
  { account, entries, ahead }: Asked,
  { next }: Around,
): Standing {
  const isOpen = row.state === "open";
  const [first] = ahead;
  if (account !== null && account === row.acked_by)
    return {
      look: "rung-done",
      right: html`${icon("check", "small")} ${when(call, row.acked_at)}`,
      more: "took it",
    };
  const seen = has(entries, "shown");
  if (seen !== undefined)
    return {
      look: isOpen ? "rung-done rung-now" : "rung-done",
      right: html`<span class="good">${icon("seen", "small")}</span> seen ${when(call, seen.at)}`,
    };
  const sent = has(entries, "delivered", "accepted_not_confirmed");
  if (sent !== undefined)
    return account === null
      ? { look: "rung-done", right: html`${icon("check", "small")} sent ${when(call, sent.at)}` }
      : {
          look: isOpen ? "rung-done rung-now" : "rung-done",
          right: html`${icon("send", "small")} not seen yet`,
        };
  if (has(entries, "delayed") !== undefined)
    return { look: "rung-now", right: html`${icon("clock", "small")} on its way` };
  const failed = has(entries, "failed");
  if (failed !== undefined)
    return {
      look: "rung-done",
      right: html`<span class="crit">${icon("close", "small")} not sent</span>`,
    };
  if (first !== undefined)
    return {
      look: "rung-later",
      right: html`${icon("clock", "small")} ${first === next ? html`in ${until(call, first.at)}` : clockTime(call, first.at)}`,
      more: `${first === next ? "next, " : ""}rung ${first.step}`,
    };
  if (has(entries, "no_channel", "no_device") !== undefined)
    return {
      look: "rung-done",
      right: html`<span class="crit">${icon("warn", "small")} not told</span>`,
    };
  const isNeeded = isOpen || has(entries, "step_not_reached") === undefined;
  return isNeeded
    ? { look: "rung-later", right: false }
    : { look: "rung-off", right: "not needed" };
}

/** The ladder comes to nobody then. */
export function gapRow(call: PageCall, { at, step, schedules }: RungAhead): Markup {
  const cover = remedy(call, "/oncall", "Cover it");
  return html`<li class="rung-later">${squareChip("warn")}<p><b class="crit">Nobody</b> <span class="soft">rung ${step}</span></p><span class="rung-when crit">${icon("clock", "small")} ${clockTime(call, at)}</span><div class="rung-ways"><span>${schedules.length > 0 ? `${schedules.join(", ")}: nobody is on call then` : "it names nobody who can be reached"}</span>${cover !== null && html`<span>${cover}</span>`}</div></li>
`;
}

/** Whoever is next can be paged now, beside the ladder. */
const pageNow = (
  call: PageCall,
  { row }: Pick<ShownAlert, "row">,
  { account, name }: { account: string; name: string },
): Markup =>
  button(call, {
    action: `/a/${row.id}/assign`,
    name: "Page now",
    kind: "plain",
    label: `Page now: ${name}`,
    fields: { account, keep_ladder: "true" },
  });

/** Those who were not paged and are on no later rung, with the reason of each. */
function untoldLine(call: PageCall, shown: ShownAlert, untold: readonly Asked[]): Piece {
  if (untold.length === 0) return false;
  return html`<details id="untold"><summary>${counted(untold.length, "person", "people")} not told · Why?</summary><ul>${untold.map(
    ({ id, name, entries }) =>
      html`<li id="${id}"><b>${name}</b>: ${entries.map((entry) => {
        const { words, change } = said(call, shown, entry);
        return html`${words}${change !== null && html` · ${change}`} `;
      })}</li>`,
  )}</ul></details>`;
}
