import type { AlertRow } from "./alert.ts";
import {
  afterStep,
  earliest,
  nextRenotify,
  secondsOf,
  type TimedRule,
  type Timers,
  wholeLadder,
} from "./ladder.ts";

/** The timed parts of an alert that opens at `at` (contract §5). */
export function timersAtOpening(
  rule: TimedRule,
  at: number,
  expiresAt: number | null = null,
): Timers {
  const quiet = rule.auto_resolve_quiet_minutes * 60;
  return {
    ladderFrom: at,
    step: 0,
    stepAt: rule.escalations.length === 0 ? null : at + secondsOf(rule.escalations, 1),
    repeatAt: null,
    renotifyAt: nextRenotify(rule, 0, at),
    renotified: 0,
    quietAt: quiet === 0 ? null : at + quiet,
    expiresAt,
    heldUntil: null,
    wakesAt: null,
    undeliveredAt: null,
  };
}

/** The columns of an alert's row that say what is timed. */
export type TimedRow = Pick<
  AlertRow,
  | "ladder_from"
  | "step"
  | "step_at"
  | "repeat_at"
  | "renotify_at"
  | "renotified"
  | "quiet_at"
  | "expires_at"
  | "held_until"
  | "wakes_at"
  | "undelivered_at"
>;

export function timersOf(row: TimedRow): Timers {
  return {
    ladderFrom: row.ladder_from,
    step: row.step,
    stepAt: row.step_at,
    repeatAt: row.repeat_at,
    renotifyAt: row.renotify_at,
    renotified: row.renotified,
    quietAt: row.quiet_at,
    expiresAt: row.expires_at,
    heldUntil: row.held_until,
    wakesAt: row.wakes_at,
    undeliveredAt: row.undelivered_at,
  };
}

/** Nothing of the rule's is timed any more. What is held back is told, pages are looked after, and an acknowledgement ends, all the same. */
export function noTimers(timers: Timers): Timers {
  return {
    ...timers,
    stepAt: null,
    repeatAt: null,
    renotifyAt: null,
    quietAt: null,
    expiresAt: null,
  };
}

/** An alert's timers while somebody has it, until `wakesAt`; null: for good. */
export function acknowledgedTimers(timers: Timers, wakesAt: number | null): Timers {
  const { quietAt, expiresAt } = timers;
  return { ...noTimers(timers), quietAt, expiresAt, wakesAt, heldUntil: null, undeliveredAt: null };
}

/** An alert's timers once its acknowledgement has ended: its ladder begins again. */
export function wokenTimers(
  before: Timers,
  { rule, now }: { rule: TimedRule | null; now: number },
): Timers {
  const { quietAt, expiresAt } = before;
  if (rule === null) return { ...noTimers(before), step: 0, renotified: 0, wakesAt: null };
  return { ...timersAtOpening(rule, now, expiresAt), quietAt };
}

/** As they were, moved by how long the alert was away; quiet and expiry begin anew. */
export function timersAgain(
  before: Timers,
  rule: TimedRule,
  { at, away, expiresAt }: { at: number; away: number; expiresAt: number | null },
): Timers {
  const ladderFrom = before.ladderFrom + away;
  const ladder = wholeLadder(rule);
  const ran = { step: Math.min(before.step, ladder.length), ladderFrom, now: at };
  return {
    ...timersAtOpening(rule, at, expiresAt),
    ladderFrom,
    ...afterStep(ladder, ran),
    renotifyAt: nextRenotify(rule, before.renotified, at),
    renotified: before.renotified,
  };
}

/**
 * The columns of timers, and when something of them is due. When its sender's word runs out is none of them: that stays as
 * it was said, also where nothing comes of it any more.
 */
export function timerColumns(timers: Timers): Omit<TimedRow, "expires_at"> & {
  due_at: number | null;
} {
  return {
    ladder_from: timers.ladderFrom,
    step: timers.step,
    step_at: timers.stepAt,
    repeat_at: timers.repeatAt,
    renotify_at: timers.renotifyAt,
    renotified: timers.renotified,
    quiet_at: timers.quietAt,
    held_until: timers.heldUntil,
    wakes_at: timers.wakesAt,
    undelivered_at: timers.undeliveredAt,
    due_at: earliest(timers),
  };
}
