import type { StoredRule } from "../../projects/rule.ts";
import {
  type Due,
  earliest,
  firstOfRung,
  numberInPass,
  type Timers,
  whatIsDue,
  wholeLadder,
} from "../ladder.ts";
import { ladderRunsOf, timersAfter } from "../ladder-runs.ts";
import { isNobodyReached } from "../nobody-reached.ts";
import { noTimers, timersOf, wokenTimers } from "../timers.ts";
import { PATIENCE_SECONDS } from "../undelivered.ts";
import { heldEventOf, hold, holdIfQuiet, letGo, owePage, renotify, tellAgain } from "./quiet.ts";
import { effect, type Resolver, set, setTimers, type Turn } from "./turn.ts";
import { fallbackBefore, isLast } from "./undelivered.ts";

/** What the clock does to an alert. */

/** From here on a page says how late it was. */
const LATE_SECONDS = 5;

/**
 * Does once what is due of an alert that isn't resolved: after a gap the missed steps are one page, and of missed repeats and
 * renotifies there is one, with the next counted from now (contract §5). An end comes first, then the end of an
 * acknowledgement, then whether its news is held back; only what is loud runs its ladder.
 */
export function look(turn: Turn): void {
  const { alert, moment } = turn;
  const { rule, at } = moment;
  const timers = timersOf(alert);
  const due = rule === null ? owedOnly(timers, at) : whatIsDue(rule, timers, at);
  if (rule !== null && due.resolve !== null) {
    if (wasReported(turn, rule)) look(turn);
    else endByItself(turn, rule, due.resolve);
  } else if (alert.state === "acknowledged" && isOver(alert.wakes_at, at)) {
    wake(turn, "ended");
  } else if (alert.state === "open" && holdIfQuiet(turn, heldEventOf(due))) {
    return;
  } else if (alert.silenced_by !== null) {
    letGo(turn);
    if (isOver(turn.alert.due_at, at)) look(turn);
  } else {
    if (isOver(timers.undeliveredAt, at)) pageBeside(turn);
    const then = { timers: timersOf(turn.alert), due };
    if (rule === null) tellOwed(turn, then);
    else run(turn, rule, then);
  }
}

/**
 * Nobody else comes, and for ten minutes no page has got through: the fallback is paged, once, beside those whose pages are
 * tried on. Whoever is tried already and has no other way is left out; where nobody is left, it is looked for again later.
 */
function pageBeside(turn: Turn): void {
  const { alert, moment } = turn;
  set(turn, { undelivered_at: null });
  if (!moment.reachable.isKnown || !isLast(alert, moment.rule)) return;
  const undelivered = fallbackBefore(turn) === null ? moment.undelivered() : null;
  if (undelivered === null) return;
  const { until, hasOther, isTried } = undelivered;
  const others = moment.fallback(hasOther).filter((one) => hasOther(one) || !isTried(one));
  if (until > moment.at) set(turn, { undelivered_at: until });
  else if (others.some(reachedFor(turn))) {
    pageFallback(turn, "undelivered", others);
    const both = [...(JSON.parse(alert.page_accounts) as string[]), ...others];
    set(turn, { page_accounts: JSON.stringify([...new Set(both)]) });
  } else if (moment.looksOn) set(turn, { undelivered_at: moment.at + PATIENCE_SECONDS });
}

const isOver = (at: number | null, now: number): boolean => at !== null && at <= now;

function endByItself(turn: Turn, rule: StoredRule, why: "quiet" | "stale"): void {
  const detail = why === "quiet" ? { quiet_minutes: rule.auto_resolve_quiet_minutes } : {};
  end(turn, { reason: turn.alert.drill !== 0 ? "drill" : why, detail });
}

/** Everything timed stops. */
export function end(turn: Turn, by: Resolver): void {
  const { alert, moment } = turn;
  const over = {
    ...noTimers(timersOf(alert)),
    heldUntil: null,
    wakesAt: null,
    undeliveredAt: null,
  };
  setTimers(turn, over, {
    state: "resolved",
    resolved_at: moment.at,
    updated_seq: moment.nextSeq(),
    silenced_by: null,
    expires_at: null,
  });
  effect(turn, { what: "resolved", alert: turn.alert, by });
}

/** Its acknowledgement has ended, or whoever it was is removed: it is told again, its ladder from the first step. */
export function wake(turn: Turn, why: "ended" | "removed"): void {
  const { alert, moment } = turn;
  setTimers(turn, wokenTimers(timersOf(alert), { rule: moment.rule, now: moment.at }), {
    state: "open",
    acked_at: null,
    acked_by: null,
    updated_seq: moment.nextSeq(),
  });
  const detail = { why, acknowledged_at: alert.acked_at };
  effect(turn, { what: "line", kind: "unacknowledged", detail });
  owePage(turn);
  if (!holdIfQuiet(turn, "renotify")) tellAgain(turn, { why: "acknowledgement_ended" });
  if (isOver(turn.alert.due_at, moment.at)) look(turn);
}

/** The steps that are due, the fallback where they and all others reach nobody, and the renotify that is due. */
function run(turn: Turn, rule: StoredRule, { timers, due }: { timers: Timers; due: Due }): void {
  const { moment } = turn;
  const { reach, reachable, at } = moment;
  const climbs = ladderRunsOf(turn.alert, { rule, span: due.steps, reach, reachable });
  const climbed = climbs.at(-1) ?? null;
  idle(turn, timersAfter({ rule, timers, due, climbed, now: at }));
  const late = (dueAt: number) => lateness({ dueAt, now: at, upSince: moment.upSince });
  const updated_seq = climbs.some(({ paged }) => paged !== null) ? moment.nextSeq() : 0;
  for (const climb of climbs) {
    const { paged } = climb;
    if (due.steps === null) break;
    if (paged !== null) {
      const page_accounts = JSON.stringify(paged.accounts);
      const escalation_level = numberInPass(rule, paged.span.last);
      set(turn, { escalation_level, page_accounts, updated_seq });
    }
    const withOpening = turn.effects.some(({ what }) => what === "opened");
    const of = { withOpening, span: due.steps, climb, late: late(due.steps.dueAt) };
    effect(turn, { what: "escalated", alert: turn.alert, ...of });
  }
  const ladder = wholeLadder(rule);
  if (climbed !== null && isNobodyReached(turn.alert, ladder, { climbed, reach, reachable }))
    pageFallback(turn, "nobody_reachable");
  else if (
    climbed !== null &&
    ladder[climbed.step - 1]?.isEnd &&
    fallbackBefore(turn) !== "undelivered"
  )
    pageFallback(turn, "passes_over");
  if (due.renotify !== null) renotify(turn, { why: "interval", ...late(due.renotify) });
}

/**
 * Pages others where whom the alert paged last are gone, or nothing reaches any of them by now: the last rung runs again,
 * else the next; where that is nobody, the fallback is paged. Returns whether there is somebody else; without one nothing is
 * done, since it would be done again and again.
 */
export function pageOthers(turn: Turn): boolean {
  const { alert, moment } = turn;
  const { rule, at, reach } = moment;
  const { project_id: projectId, escalation_level } = alert;
  const accounts = JSON.parse(alert.page_accounts) as string[];
  if (escalation_level === 0 && accounts.length === 0) return false;
  const isReached = reachedFor(turn);
  const reaches = (step: Parameters<typeof reach>[1]) => reach(projectId, step).some(isReached);
  if (reaches({ accounts, schedules: [] })) return false;
  const ladder = rule === null ? [] : wholeLadder(rule);
  const from = Math.max(0, firstOfRung(ladder, Math.min(alert.step, ladder.length)) - 1);
  const onLadder = ladder.slice(from).some(reaches);
  const others = moment.fallback(isReached).filter((one) => !accounts.includes(one));
  if (!onLadder && !others.some(isReached)) return false;
  const detail = { level: escalation_level, accounts, why: "no_way" };
  if (accounts.length > 0) effect(turn, { what: "line", kind: "unreachable", detail });
  if (onLadder) {
    set(turn, { step: from, step_at: at, repeat_at: null, due_at: at });
    look(turn);
  } else pageFallback(turn, "nobody_reachable");
  return true;
}

/** Whether something reaches a person with news of the alert. Until anything is known, everybody counts as reached. */
function reachedFor({ alert, moment: { reachable } }: Turn): (account: string) => boolean {
  const of = { projectId: alert.project_id, level: alert.level };
  return (account) => !reachable.isKnown || reachable.reaches(account, of);
}

/** An escalation like any other, to the people whom the tenant named for this case; while it is quiet they are owed it. */
export function pageFallback(
  turn: Turn,
  why: string,
  accounts = turn.moment.fallback(reachedFor(turn)),
): void {
  const { alert, moment } = turn;
  const of = { projectId: alert.project_id, level: alert.level };
  const reached = accounts.filter((account) => moment.reachable.reaches(account, of));
  effect(turn, { what: "line", kind: "fallback", detail: { why, accounts, reached } });
  if (accounts.length === 0) return;
  set(turn, { page_accounts: JSON.stringify(accounts), updated_seq: moment.nextSeq() });
  const quiet = moment.quiet();
  if (quiet !== null) hold(turn, { quiet, news: "page" });
  else effect(turn, { what: "fallback", alert: turn.alert, accounts });
}

/** What is due of an alert whose rule is deleted: only what was held back. */
function owedOnly({ renotifyAt }: Timers, now: number): Due {
  const renotify = renotifyAt !== null && renotifyAt <= now ? renotifyAt : null;
  return { resolve: null, steps: null, renotify };
}

/** Its rule is deleted: nothing but what was held back is told. */
function tellOwed(turn: Turn, { timers, due }: { timers: Timers; due: Due }): void {
  const next = noTimers(timers);
  if (due.renotify === null) {
    idle(turn, { ...next, renotifyAt: timers.renotifyAt });
    return;
  }
  setTimers(turn, next);
  // Its ladder has paged nobody and is gone: those are paged who are where nobody else is.
  if (turn.alert.page_accounts === "[]") pageFallback(turn, "rule_deleted");
  else renotify(turn, { why: "interval" });
}

/** Whether its sender reported it late enough to keep it from ending: that holds now. */
function wasReported(turn: Turn, rule: StoredRule): boolean {
  const { alert, moment } = turn;
  const { later, at } = moment;
  if (later === null) return false;
  const { expiresAt } = later;
  const quiet = rule.auto_resolve_quiet_minutes * 60;
  const quietAt = Math.max(alert.quiet_at ?? 0, later.at + quiet);
  if ((quiet !== 0 && quietAt <= at) || isOver(expiresAt, at)) return false;
  set(turn, {
    last_seen: later.seen,
    expires_at: expiresAt,
    promised: expiresAt === null ? null : expiresAt - later.at,
    quiet_at: alert.quiet_at === null ? null : quietAt,
  });
  return true;
}

/** The timers that it has from now on. Without this an alert that was looked at and is still due would be so for ever. */
function idle(turn: Turn, timers: Timers): void {
  const at = earliest(timers);
  if (at !== null && at <= turn.moment.at)
    throw new Error(`alert ${turn.alert.id} is still due after settling`);
  setTimers(turn, timers);
}

/** How late something ran and why, for the history; nothing where it was in time. */
export function lateness(run: {
  dueAt: number;
  now: number;
  upSince: number;
}): Record<string, unknown> {
  const seconds = run.now - run.dueAt;
  const wasDown = run.dueAt < run.upSince;
  if (seconds <= 0 || (seconds < LATE_SECONDS && !wasDown)) return {};
  return { late_seconds: seconds, ...(wasDown ? { late_because: "box was down" } : {}) };
}
