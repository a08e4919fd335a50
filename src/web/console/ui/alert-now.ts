import type { AlertRow, AlertState } from "../../../core/alerts/alert.ts";
import { doerOf } from "../../../core/alerts/holder.ts";
import { type LookAhead, nextRungs } from "../../../core/alerts/rungs-ahead.ts";
import { latestEntries, type TimelineEntry } from "../../../core/alerts/timeline.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { pagesOfAlert } from "../../../out/paging/history.ts";
import type { PageCall } from "../screen.ts";
import { chip, type Faces, squareChip } from "./faces.ts";
import { ago, clockTime, until } from "./times.ts";

/** What of an alert's history says how it stands now. */
const TELLING: Readonly<Record<AlertState, readonly string[]>> = {
  open: ["escalated", "fallback", "assigned", "reached_nobody", "unreachable"],
  acknowledged: ["acknowledged"],
  resolved: ["resolved"],
};

export interface NowAbout {
  nameOf(account: string): string;
  faces: Faces;
  look: LookAhead;
  /** By alert: the latest of its history that says how it stands. */
  last: ReadonlyMap<number, TimelineEntry>;
}

/** How an alert stands, as its card says it. */
export interface NowWords {
  /** Whom it is about: whoever is rung or has it. */
  mark: Piece;
  words: Markup;
  /** Alone, for where the time of what comes next stands apart: `first`, and "then Jonas at 03:15". */
  first: Piece;
  after: Piece;
  /** When that is, Unix seconds; null: nothing comes. */
  at: number | null;
  /** Somebody is rung; `me`: the reader is among them. */
  rings: "me" | "others" | null;
}

/** That of all rows of a page at once. */
export function lastOfAll(
  reader: Reader,
  rows: readonly Pick<AlertRow, "id" | "state">[],
): ReadonlyMap<number, TimelineEntry> {
  const byState = Map.groupBy(rows, ({ state }) => state);
  return new Map(
    [...byState].flatMap(([state, of]) => {
      const ids = of.map(({ id }) => id);
      return [...latestEntries(reader, ids, TELLING[state])];
    }),
  );
}

/** What it takes to say it; of a page that is nobody's own, the account is "". */
type NowCall = Pick<PageCall, "tenant" | "now" | "look"> & {
  who: Pick<PageCall["who"], "accountId">;
};

type Words = Pick<NowWords, "words" | "first" | "after" | "at">;

/** Two lines: what is now, and what comes next or since when it is so. */
const lines = (first: Piece, second: Piece, next: Ahead | null = null): Words => ({
  words: html`<span>${first}</span> <span class="soft">${next?.words ?? second}</span>`,
  first,
  after: next?.after ?? second,
  at: next?.at ?? null,
});

/** What comes next: "Jonas in 5:48", "then Jonas at 03:15". */
interface Ahead {
  words: Markup;
  after: Markup;
  at: number;
}

/** What the ladder does now, or who has it. */
export function nowWords(call: NowCall, row: AlertRow, about: NowAbout): NowWords {
  if (row.state === "acknowledged") return taken(call, row, about);
  if (row.state === "resolved") return done(call, row, about);
  if (row.silenced_by !== null)
    return still(
      squareChip("bell-off"),
      lines(
        html`<b>Quiet</b>${row.held_until !== null && html` until ${clockTime(call, row.held_until)}`}`,
        "nobody is notified meanwhile",
      ),
    );
  return ringing(call, row, about);
}

const still = (mark: Piece, words: Words): NowWords => ({
  mark,
  ...words,
  rings: null,
});

function taken(call: NowCall, row: AlertRow, { nameOf, faces, last }: NowAbout): NowWords {
  const entry = last.get(row.id);
  const by = row.acked_by;
  const name = by === null ? (entry && doerOf(entry, nameOf)) || "Somebody" : nameOf(by);
  const who = by === call.who.accountId ? "You have it" : `${name} has it`;
  const from = row.acked_at ?? entry?.at ?? row.last_seen;
  return still(
    by === null ? squareChip("check") : chip(faces(by)),
    lines(
      html`<b>${who}</b>`,
      html`since ${clockTime(call, from)}${row.wakes_at !== null && html`, until ${clockTime(call, row.wakes_at)}`}`,
    ),
  );
}

function done(call: NowCall, row: AlertRow, { nameOf, faces, last }: NowAbout): NowWords {
  const entry = last.get(row.id);
  const by = entry === undefined ? null : doerOf(entry, nameOf);
  const account = entry?.account_id ?? null;
  return still(
    account === null ? squareChip("check") : chip(faces(account), { dot: false }),
    lines(
      by === null ? "Resolved by itself" : `Resolved by ${by}`,
      row.resolved_at !== null && ago(call, row.resolved_at),
    ),
  );
}

/** Whom it rings, whether they saw it, and who is next. */
function ringing(call: NowCall, row: AlertRow, about: NowAbout): NowWords {
  const { nameOf, faces } = about;
  const last = about.last.get(row.id);
  const told = (last?.detail["accounts"] as string[] | undefined) ?? [];
  const next = ahead(call, row, about);
  const youOr = (one: string) => (one === call.who.accountId ? "you" : nameOf(one));
  if (last === undefined) {
    const rule = about.look.rule(row.rule_id);
    const why =
      rule === null ? "Its rule was deleted" : rule.escalations.length === 0 ? "No ladder" : null;
    if (next === null || why !== null)
      return stuck(html`<b class="warn">${why ?? "The ladder has ended"}</b>`, "nobody is paged");
    return still(squareChip("clock"), lines(html`<b>Nobody is rung yet</b>`, false, next));
  }
  if (last.kind === "reached_nobody" || told.length === 0)
    return stuck(html`<b class="crit">Nobody is on call</b>`, "and nobody is next", next);
  const seen = seenPages(call, row);
  const accounts =
    last.kind === "unreachable"
      ? []
      : told.filter((account) => seen.has(account) || isReached(row, account, about.look));
  const [first] = accounts;
  if (first === undefined)
    return stuck(
      html`<b class="crit">Nothing reaches ${shortly(told, youOr)}</b>`,
      "and nobody is next",
      next,
    );
  if (accounts.includes(call.who.accountId))
    return {
      mark: chip(faces(call.who.accountId), { rings: true }),
      ...lines(html`<b>Ringing you</b>`, "nobody is next", next),
      rings: "me",
    };
  return {
    mark: chip(faces(first), { rings: true }),
    ...lines(
      seenWords(call, seen, { accounts, names: shortly(accounts, nameOf) }),
      html`<span class="warn">nobody is next</span>`,
      next,
    ),
    rings: "others",
  };
}

/** Whether anything reaches the person, as far as that is known. */
const isReached = (
  { project_id: projectId, level }: AlertRow,
  account: string,
  { reachable }: LookAhead,
): boolean => !reachable.isKnown || reachable.reaches(account, { projectId, level });

const stuck = (first: Markup, second: Piece, next: Ahead | null = null): NowWords => ({
  mark: squareChip("warn"),
  ...lines(first, second, next),
  rings: null,
});

/** Who saw a page of the alert, and when last, Unix seconds. */
const seenPages = (call: NowCall, { id }: AlertRow): ReadonlyMap<string, number> =>
  new Map(
    pagesOfAlert(call.tenant.store, id)
      .flatMap(({ account, shownAt }) => (shownAt === null ? [] : [[account, shownAt] as const]))
      .sort(([, a], [, b]) => a - b),
  );

/** "Ringing Mei, not seen yet", "Seen by Mei, 40 s ago". */
function seenWords(
  call: NowCall,
  seen: ReadonlyMap<string, number>,
  { accounts, names }: { accounts: readonly string[]; names: string },
): Markup {
  const at = Math.max(0, ...accounts.map((account) => seen.get(account) ?? 0));
  if (at === 0) return html`Ringing ${names}, <b>not seen yet</b>`;
  return html`<b>Seen by ${names}</b>, ${ago(call, at)}`;
}

/** Who is next and when; null where nobody is. */
function ahead(call: NowCall, row: AlertRow, { nameOf, look }: NowAbout): Ahead | null {
  const rungs = nextRungs(call.tenant.store, row, { now: call.now, look });
  const [next] = rungs;
  if (next === undefined) return null;
  const { at } = next;
  const accounts = [...new Set(rungs.flatMap((rung) => rung.accounts))];
  const said = (who: Piece): Ahead => ({
    words: html`${who} in ${until(call, at)}`,
    after: html`then ${who} at ${clockTime(call, at)}`,
    at,
  });
  if (accounts.length === 0)
    return { ...said("nobody"), words: html`<b class="crit">nobody in ${until(call, at)}</b>` };
  const isAgain = rungs.every(({ why }) => why === "renotify" || why === "repeat");
  const you = accounts.length === 1 && accounts[0] === call.who.accountId;
  return said(isAgain ? "again" : you ? "you" : shortly(accounts, nameOf));
}

/** Ann, Bob and 3 more. */
function shortly(accounts: readonly string[], nameOf: (account: string) => string): string {
  const names = accounts.slice(0, 2).map(nameOf).join(", ");
  return accounts.length > 2 ? `${names} and ${accounts.length - 2} more` : names;
}

/** Whom it is about, what is so, and at the right what counts: what is left, or what is done next. Pure. */
export const nowLine = (now: Pick<NowWords, "mark" | "first" | "after">, right: Piece): Markup =>
  html`<div class="now">${now.mark}<p><span>${now.first}</span><br><span class="soft small">${now.after}</span></p>${right}</div>`;
