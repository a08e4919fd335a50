import { nextRung, type Timers, wholeLadder } from "../ladder.ts";
import { acknowledgedTimers, noTimers, timersAgain, timersOf } from "../timers.ts";
import { look, pageFallback, pageOthers, wake } from "./due.ts";
import { hold, holdIfQuiet, owePage, tellAgain, tellOpening } from "./quiet.ts";
import { type Counted, effect, set, setTimers, type Turn } from "./turn.ts";

/** What people do with an alert, or its sender for them. */

/** Somebody has it: ladder and renotify stop, for as long as the rule says, or until `until`. */
export function take(
  turn: Turn,
  of: {
    by: string | { source: string };
    via?: string | undefined;
    until?: number | null | undefined;
  },
): void {
  const { alert, moment } = turn;
  const { by, via, until } = of;
  const minutes = moment.rule?.ack_expires_minutes ?? 0;
  const usual = minutes === 0 ? null : moment.at + minutes * 60;
  const wakesAt = until === undefined ? usual : until;
  setTimers(turn, acknowledgedTimers(timersOf(alert), wakesAt), {
    state: "acknowledged",
    acked_at: moment.at,
    acked_by: typeof by === "string" ? by : null,
    updated_seq: moment.nextSeq(),
    silenced_by: null,
  });
  effect(turn, { what: "acknowledged", alert: turn.alert, by, via });
}

/** An acknowledgement ends then. */
export function takeUntil(turn: Turn, { by, until }: { by: string; until: number }): void {
  if (turn.alert.state === "open") take(turn, { by });
  const { alert, moment } = turn;
  const updated_seq = moment.nextSeq();
  setTimers(turn, { ...timersOf(alert), wakesAt: until }, { updated_seq });
  effect(turn, { what: "line", kind: "snoozed", accountId: by, detail: { until } });
}

/** Its acknowledgement is taken back: the ladder goes on after the wait that it had left. */
export function handBack(turn: Turn, { by }: { by: string }): void {
  openAgain(turn);
  owePage(turn);
  effect(turn, { what: "line", kind: "unacknowledged", accountId: by });
  if (!holdIfQuiet(turn, "renotify")) tellAgain(turn, { why: "unacknowledged" });
}

/** An acknowledged alert is open from now on, with what was timed moved by how long somebody had it. Tells nobody. */
function openAgain(turn: Turn): void {
  const { alert, moment } = turn;
  const { acked_at, expires_at: expiresAt, quiet_at } = alert;
  const again = timersSince(turn, { since: acked_at, expiresAt });
  // Quiet went on being counted.
  const quietAt = moment.rule === null ? null : quiet_at;
  setTimers(turn, { ...again, quietAt, wakesAt: null }, { ...OPEN, updated_seq: moment.nextSeq() });
}

const OPEN = { state: "open", acked_at: null, acked_by: null, resolved_at: null } as const;

function timersSince(
  { alert, moment: { rule, at } }: Turn,
  { since, expiresAt }: { since: number | null; expiresAt: number | null },
): Timers {
  const before = timersOf(alert);
  if (rule === null) return noTimers(before);
  return timersAgain(before, rule, { at, away: at - (since ?? at), expiresAt });
}

/** The same trouble is there again: the ladder goes on from where it stood when it ended, and one renotify tells of it. */
export function bringBack(turn: Turn, { counted }: { counted: Counted }): void {
  const { alert, moment } = turn;
  const { resolved_at: since } = alert;
  const timers = timersSince(turn, { since, expiresAt: counted.expires_at });
  setTimers(turn, timers, { ...counted, ...OPEN, updated_seq: moment.nextSeq() });
  const detail = { resolved_for_seconds: moment.at - (since ?? moment.at) };
  effect(turn, { what: "line", kind: "reopened", detail });
  if (!holdIfQuiet(turn, "renotify")) tellAgain(turn, { why: "reopened" });
}

/** New trouble was counted into an alert that somebody has: their acknowledgement ends then, if it doesn't sooner. */
export function join(turn: Turn, of: { trouble: string; opensAt: number }): void {
  const { trouble: what, opensAt } = of;
  const { wakes_at } = turn.alert;
  if (wakes_at !== null && wakes_at <= opensAt) return;
  setTimers(turn, { ...timersOf(turn.alert), wakesAt: opensAt });
  effect(turn, { what: "line", kind: "joined", detail: { what, opens_at: opensAt } });
}

/** An alert is to page somebody now: it is open, and an opening that was held back is told first. Whether it is quiet. */
function openForPage(turn: Turn): boolean {
  if (turn.alert.state === "acknowledged") openAgain(turn);
  const isQuiet = turn.moment.quiet() !== null;
  if (!isQuiet) tellOpening(turn);
  return isQuiet;
}

/** These people are paged now, and the alert is theirs; unless the ladder is kept its further steps don't run. */
export function assign(
  turn: Turn,
  of: { by: string; accounts: readonly string[]; schedules: readonly string[]; keep: boolean },
): void {
  const { by, accounts, schedules, keep } = of;
  openForPage(turn);
  const { alert, moment } = turn;
  const timers = timersOf(alert);
  setTimers(turn, keep ? timers : { ...timers, stepAt: null, repeatAt: null }, {
    page_accounts: JSON.stringify(accounts),
    updated_seq: moment.nextSeq(),
  });
  const detail = {
    accounts,
    ...(schedules.length > 0 && { schedules }),
    keep_ladder: keep,
  };
  effect(turn, { what: "line", kind: "assigned", accountId: by, detail });
  const quiet = moment.quiet();
  if (quiet !== null) hold(turn, { quiet, news: "page" });
  else effect(turn, { what: "assigned", alert: turn.alert, accounts, by });
}

/** The ladder's next rung runs now, in place of a repeat that is due or held. */
export function nextRungNow(turn: Turn, { by }: { by: string }): void {
  openForPage(turn);
  effect(turn, { what: "line", kind: "escalated_now", accountId: by });
  const { at } = turn.moment;
  set(turn, { step_at: at, repeat_at: null, due_at: at });
  look(turn);
}

/**
 * Somebody whom it paged last, or who has it, was removed. Their acknowledgement ends as one whose time is over. If nobody
 * else is left of those paged, the ladder's next rung runs now, though it had been given to them; where no rung is left, the
 * fallback is paged.
 */
export function leave(turn: Turn, { account }: { account: string }): void {
  const { alert, moment } = turn;
  const left = (JSON.parse(alert.page_accounts) as string[]).filter((one) => one !== account);
  set(turn, { page_accounts: JSON.stringify(left), updated_seq: moment.nextSeq() });
  if (alert.state === "acknowledged" && alert.acked_by === account) {
    wake(turn, "removed");
    return;
  }
  if (alert.state !== "open") return;
  if (left.length > 0) {
    if (moment.quiet() === null) pageOthers(turn);
    return;
  }
  const detail = { level: alert.escalation_level, accounts: [account], why: "removed" };
  effect(turn, { what: "line", kind: "unreachable", detail });
  const { rule, at } = moment;
  if (rule === null || nextRung(wholeLadder(rule), alert.step) === null)
    pageFallback(turn, "removed");
  else {
    set(turn, { step_at: at, repeat_at: null, due_at: at });
    look(turn);
  }
}
