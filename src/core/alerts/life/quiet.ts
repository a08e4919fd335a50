import type { StoredRule } from "../../projects/rule.ts";
import type { SilencedBy } from "../../quiet/decide.ts";
import { type Due, ladderOnwards, type Timers } from "../ladder.ts";
import { timersAtOpening, timersOf } from "../timers.ts";
import { effect, type HeldNews, set, setTimers, type Turn } from "./turn.ts";

/** Holding an open alert's news back while it is quiet, letting go of it, and telling it again. */

/** What would be told of an alert now. */
export function heldEventOf({ steps, renotify }: Due): HeldNews {
  if (steps !== null) return "step";
  return renotify !== null ? "renotify" : "nothing";
}

/** Holds the news back until what keeps it quiet ends; `also`: people who are told again at its end, too. */
export function hold(
  turn: Turn,
  { quiet, news, also = [] }: { quiet: SilencedBy; news: HeldNews; also?: readonly string[] },
): void {
  const { alert, moment } = turn;
  const { by, until } = quiet;
  const isNew = alert.silenced_by !== by;
  const isNews = isNew || alert.held_until !== until || news === "page";
  const isUnannounced = alert.untold === 1;
  setTimers(turn, heldTimers(timersOf(alert), { until, news, isUnannounced, now: moment.at }), {
    silenced_by: by,
    untold: news === "opened" ? 1 : alert.untold,
    updated_seq: isNew ? moment.nextSeq() : alert.updated_seq,
  });
  effect(turn, { what: "held", quiet, news, also, isNews });
}

/** Where it is quiet now, its news is held back; whether it is. */
export function holdIfQuiet(turn: Turn, news: HeldNews): boolean {
  const quiet = turn.moment.quiet();
  if (quiet !== null) hold(turn, { quiet, news });
  return quiet !== null;
}

/**
 * An alert's timers while it is quiet until then. What has no timer of its own, a renotify of a burst or a page, is owed as
 * a renotify, unless nobody was told of the alert at all.
 */
function heldTimers(
  timers: Timers,
  of: { until: number; news: HeldNews; isUnannounced: boolean; now: number },
): Timers {
  const { until, news, isUnannounced, now } = of;
  const isOwed = (news === "renotify" || news === "page") && !isUnannounced;
  const renotifyAt = isOwed ? Math.min(timers.renotifyAt ?? now, now) : timers.renotifyAt;
  return { ...timers, renotifyAt, heldUntil: until };
}

/** When a renotify that is held back was due; null: none is. */
export function heldRenotify({ heldUntil, renotifyAt }: Timers, now: number): number | null {
  return heldUntil !== null && renotifyAt !== null && renotifyAt <= now ? renotifyAt : null;
}

/** It is quiet no more: of one that nobody heard of the opening is told, and to whom it was given meanwhile. */
export function letGo(turn: Turn): void {
  const { alert: held, moment } = turn;
  const isUnannounced = held.untold === 1;
  const { rule, at: now } = moment;
  setTimers(turn, released(timersOf(held), { rule, isUnannounced, now }), {
    silenced_by: null,
    untold: 0,
    updated_seq: moment.nextSeq(),
  });
  effect(turn, { what: "released", by: held.silenced_by });
  if (!isUnannounced) return;
  effect(turn, { what: "opened", alert: turn.alert, silenced: held.opened_at });
  if (held.page_accounts !== "[]") tellPaged(turn, { why: "assigned" });
}

/** An alert that nobody was told of is open again, and its rule is deleted: in place of its ladder one page is owed. */
export function owePage(turn: Turn): void {
  const { alert, moment } = turn;
  const hasPaged = alert.escalation_level > 0 || alert.page_accounts !== "[]";
  if (moment.rule !== null || (alert.untold === 0 && hasPaged)) return;
  set(turn, { renotify_at: moment.at, due_at: moment.at });
}

/** The ladder goes on from now; of an alert that nobody heard of it begins. */
function released(
  timers: Timers,
  of: { rule: StoredRule | null; isUnannounced: boolean; now: number },
): Timers {
  const { rule, isUnannounced, now } = of;
  const { quietAt: ends, expiresAt, wakesAt } = timers;
  const loud = { ...timers, heldUntil: null };
  const isGiven = timers.stepAt === null;
  if (rule === null) return loud;
  if (isUnannounced) {
    const timers = { ...timersAtOpening(rule, now, expiresAt), quietAt: ends, wakesAt };
    // It was given to somebody alone, whose the ladder's place is.
    return isGiven ? { ...timers, stepAt: null } : timers;
  }
  return ladderOnwards(loud, now);
}

/** Says again that an open alert is open. `detail` says why. */
export function renotify(turn: Turn, detail: Record<string, unknown>): void {
  effect(turn, { what: "renotified", alert: turn.alert, detail });
}

/** Tells of an alert that is open again; where nobody heard of its opening, of that, and to whom it was given meanwhile. */
export function tellAgain(turn: Turn, detail: Record<string, unknown>): void {
  const { untold, page_accounts } = turn.alert;
  if (untold === 1) tellFirst(turn);
  if (page_accounts !== "[]") tellPaged(turn, detail);
  else if (untold === 0) renotify(turn, detail);
}

/** Says again that it is open, which pages whom it paged last. Without its rule nothing else is owed of it than this. */
function tellPaged(turn: Turn, detail: Record<string, unknown>): void {
  renotify(turn, detail);
  if (turn.moment.rule === null) setTimers(turn, { ...timersOf(turn.alert), renotifyAt: null });
}

function tellFirst(turn: Turn): void {
  set(turn, { untold: 0 });
  effect(turn, { what: "opened", alert: turn.alert });
}

/** Before an open alert pages anybody: what was held back of it is told, where it may be now. */
export function tellOpening(turn: Turn): void {
  const { silenced_by, untold } = turn.alert;
  if (silenced_by !== null) letGo(turn);
  else if (untold === 1) tellFirst(turn);
}

/** It is quiet no more and hasn't been looked at: a renotify is told at once with what was held, in that order. */
export function tellWithHeld(turn: Turn): void {
  const { alert, moment } = turn;
  const { at } = moment;
  if (alert.untold === 0) set(turn, { renotify_at: Math.min(alert.renotify_at ?? at, at) });
  set(turn, { held_until: at, due_at: at });
}

/** These people are told again beside those whom the alert paged last; who isn't one of those. */
export function oweBesides(turn: Turn, people: readonly string[]): string[] {
  const { alert, moment } = turn;
  const paged = JSON.parse(alert.page_accounts) as string[];
  const also = [...new Set(people)].filter((account) => !paged.includes(account));
  if (also.length > 0)
    set(turn, {
      page_accounts: JSON.stringify([...paged, ...also]),
      updated_seq: moment.nextSeq(),
    });
  return also;
}
