import type { AlertRow } from "../../../core/alerts/alert.ts";
import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import type { RungAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { wayWord } from "../../../out/services/service-names.ts";
import type { PageCall } from "../screen.ts";
import { chip, type Faces, squareChip } from "./faces.ts";
import { button } from "./form.ts";
import { icon } from "./icon.ts";
import { reachWords } from "./reach-words.ts";
import { clockTime, until } from "./times.ts";
import { remedy } from "./way.ts";

/** Whose ladder it is. */
interface RungOf {
  row: AlertRow;
  nameOf(account: string): string;
  /** Who has done something with it. */
  acted?: ReadonlySet<string>;
}

/** What is said of somebody, or of a channel, together. */
export interface OnLadder {
  id: string;
  name: string;
  account: string | null;
  entries: ReachEntry[];
  /** When the ladder comes to them, in order. */
  ahead: RungAhead[];
}

export const reachSaid = (call: PageCall, { row, nameOf, acted }: RungOf, entry: ReachEntry) =>
  reachWords(entry, call, { project: row.project, rule: row.rule, nameOf, acted });

export interface Around {
  faces: Faces;
  /** The rung that comes next. */
  next: RungAhead | undefined;
}

type Standing = { look: string; right: Piece; more?: Piece };

export function rungRow(call: PageCall, shown: RungOf, one: OnLadder, around: Around): Markup {
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
    // What waits behind one that fails isn't due before it.
    if (entry.reason === "delayed" && entry.attempts === 0 && isFailing(entries)) return [];
    const { words, change } = reachSaid(call, shown, entry);
    // What a channel is stands behind its name, once.
    const by =
      account === null
        ? ""
        : [entry.via && wayWord(entry.via), entry.address].filter(Boolean).join(" ");
    return [html`${by !== "" && `${by} `}${words}${change !== null && html` · ${change}`}`];
  });
  const next = around.next !== undefined && ahead[0] === around.next;
  const via = account === null ? entries.find((entry) => entry.via)?.via : undefined;
  const more = standing.more ?? (via && via !== name && wayWord(via));
  return html`<li class="${standing.look}" id="${one.id}">${mark}<p><b>${account === call.who.accountId ? "You" : name}</b>${more && html` <span class="soft">${more}</span>`}</p><span class="rung-when">${standing.right}</span><div class="rung-ways">${ways.map(
    (words) => html`<span>${words}</span>`,
  )}${again !== undefined && html`<span>again at ${clockTime(call, again.at)}</span>`}${next && standing.look === "rung-later" && account !== null && pageNow(call, shown, { account, name })}</div></li>
`;
}

const has = (entries: readonly ReachEntry[], ...reasons: ReachEntry["reason"][]) =>
  entries.find(({ reason }) => reasons.includes(reason));

const isFailing = (entries: readonly ReachEntry[]) =>
  entries.some(({ reason, attempts }) => reason === "delayed" && attempts > 0);

const when = (call: PageCall, at: number | null): Piece => at !== null && clockTime(call, at);

/** How it stands with one: what the row is drawn as, and what stands at its right. */
function standingOf(
  call: PageCall,
  { row, acted }: Pick<RungOf, "row" | "acted">,
  { account, entries, ahead }: OnLadder,
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
    return account === null || acted?.has(account)
      ? { look: "rung-done", right: html`${icon("check", "small")} sent ${when(call, sent.at)}` }
      : {
          look: isOpen ? "rung-done rung-now" : "rung-done",
          right: html`${icon("send", "small")} not seen yet`,
        };
  if (has(entries, "delayed") !== undefined)
    return {
      look: "rung-now",
      right: html`${icon("clock", "small")} ${isFailing(entries) ? "tried again" : "on its way"}`,
    };
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
      right: html`<span class="crit">${icon("warn", "small")} not paged</span>`,
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
  { row }: Pick<RungOf, "row">,
  { account, name }: { account: string; name: string },
): Markup =>
  button(call, {
    action: `/a/${row.id}/assign`,
    name: "Page now",
    kind: "plain",
    label: `Page now: ${name}`,
    fields: { account, keep_ladder: "true" },
  });
