import type { EscalationStep, StoredRule } from "../../projects/rule.ts";
import type { AlertState } from "../alert.ts";
import {
  firstOfRung,
  nextRenotify,
  repeatSeconds,
  secondsOf,
  stepsBy,
  type TimedRule,
  type Timers,
  wholeLadder,
} from "../ladder.ts";
import { noTimers, type TimedRow, timersOf } from "../timers.ts";
import { end } from "./due.ts";
import { heldRenotify } from "./quiet.ts";
import { effect, type Life, setTimers, type Turn } from "./turn.ts";

/** What becomes of an alert that stands when its rule is replaced, or deleted. Either shows in its history. */

/**
 * The rule was `before`, and is another since `since`, now where that is left out. Deleted: the ladder ends and so does all
 * that is timed but what is held back.
 */
export function followRule(turn: Turn, of: { before: StoredRule; since?: number }): void {
  const { alert, moment } = turn;
  const { rule: after } = moment;
  const { before, since: now = moment.at } = of;
  const isDrill = alert.drill !== 0;
  // A drill ends by the clock alone, and with its rule.
  if (isDrill && after === null) {
    end(turn, { reason: "drill" });
    return;
  }
  const timers = timersOf(alert);
  const next =
    after === null
      ? orphaned(timers, alert, { before, now })
      : retimedBy(alert, { before, after, now });
  if (same(next, timers)) return;
  setTimers(turn, next);
  // What has run shows where the ladder goes on.
  if (alert.state !== "open" && same(next, { ...timers, step: next.step })) return;
  const detail = { why: after === null ? "rule_deleted" : "rule_changed", ...ladderOf(next) };
  effect(turn, { what: "line", kind: "retimed", detail });
}

/** What is timed of an alert once its rule is another. */
export function retimedBy(
  alert: TimedRow & Pick<Life, "state" | "escalation_level" | "drill">,
  change: { before: TimedRule; after: TimedRule; now: number },
): Timers {
  const paged = alert.escalation_level > 0;
  const next = retimed({ ...change, state: alert.state, timers: timersOf(alert), paged });
  return alert.drill === 0 ? next : { ...next, quietAt: null };
}

/** Nothing of the rule's is timed any more; what is held back stays owed, a step that was due and a ladder that would begin as a page. */
function orphaned(
  timers: Timers,
  { state, untold }: Life,
  { before, now }: { before: StoredRule; now: number },
): Timers {
  const ended = noTimers(timers);
  if (state !== "open") return ended;
  const isDue = [timers.stepAt, timers.repeatAt].some((at) => at !== null && at <= now);
  const isPage = untold === 0 ? timers.heldUntil !== null && isDue : before.escalations.length > 0;
  const told = untold === 0 ? heldRenotify(timers, now) : null;
  return { ...ended, renotifyAt: isPage ? now : told };
}

/** For the history: the step that comes next and when, or that none does. */
function ladderOf(timers: Timers): Record<string, unknown> {
  if (timers.stepAt === null && timers.repeatAt === null) return { ladder: "ended" };
  return timers.stepAt === null
    ? { ladder: "repeats", next_at: timers.repeatAt }
    : { ladder: "goes_on", next_step: timers.step + 1, next_at: timers.stepAt };
}

/**
 * What an alert's timers become when its rule is replaced: it follows the rule as it is now.
 *
 * - The new ladder lies where it would have lain from the opening. Steps that ran and page the same people at
 *   the same time as before don't run again; of others whose time has passed the furthest runs once, at once.
 *   Where nobody was paged so far, none counts as run.
 * - A step that was due and had not run yet is made up for with it. Where an earlier change made it due, the furthest
 *   whose time has passed runs in its place, whatever ran before.
 * - A renotify that is pending comes no later than it would have; off and the cap hold at once. What is held back, by a
 *   silence say, stays owed: it may be a page.
 * - Of an acknowledged alert nothing is timed but quiet; what has run of its ladder is known where that goes on.
 * - Quiet goes on counting, towards the new length; where it was not counted before, it begins now.
 */
export function retimed(change: {
  before: TimedRule;
  after: TimedRule;
  state: AlertState;
  timers: Timers;
  /** Whether a step has reached anybody so far. */
  paged: boolean;
  now: number;
}): Timers {
  const { before, after, timers, now } = change;
  const quietAt = requiet(change);
  const [was, ladder] = [wholeLadder(before), wholeLadder(after)];
  const isSame = same(was, ladder);
  const kept = change.paged ? Math.min(timers.step, stepsKept(was, ladder)) : 0;
  const ran = isSame ? timers.step : kept;
  if (change.state !== "open") return { ...timers, step: ran, quietAt };
  const renotifyAt =
    heldRenotify(timers, now) ??
    sooner(timers.renotifyAt, nextRenotify(after, timers.renotified, now));
  const next = { ...timers, renotifyAt, quietAt };
  if (isSame) return next;

  const passed = stepsBy(ladder, now - timers.ladderFrom);
  const had =
    passed > 0 && isStillOwed(was, timers, now)
      ? Math.min(ran, firstOfRung(ladder, passed) - 1)
      : ran;
  if (passed > had) return { ...next, ...owed(ladder, { ran: had, passed }, { timers, now }) };
  const repeat = repeatSeconds(ladder, ran);
  return {
    ...next,
    step: ran,
    stepAt: ran < ladder.length ? timers.ladderFrom + secondsOf(ladder, ran + 1) : null,
    repeatAt: sooner(timers.repeatAt, repeat === null ? null : now + repeat),
  };
}

/** Whether an earlier change made a step due that has not run yet: of the steps before it nobody may have been paged. */
function isStillOwed(
  was: readonly EscalationStep[],
  { step, stepAt, ladderFrom }: Timers,
  now: number,
): boolean {
  return stepAt !== null && stepAt <= now && stepAt > ladderFrom + secondsOf(was, step + 1);
}

/** The ladder's columns where steps after `ran`, up to `passed`, have not run though their time has passed. */
function owed(
  ladder: readonly EscalationStep[],
  { ran, passed }: { ran: number; passed: number },
  { timers, now }: { timers: Timers; now: number },
): Pick<Timers, "step" | "stepAt" | "repeatAt"> {
  const furthest = Math.max(ran, firstOfRung(ladder, passed) - 1);
  const { stepAt } = timers;
  if (stepAt === null || stepAt > now) return { step: furthest, stepAt: now, repeatAt: null };
  const missed = Math.max(ran, stepsBy(ladder, stepAt - 1 - timers.ladderFrom));
  return { step: Math.min(furthest, missed), stepAt, repeatAt: null };
}

/** How many steps from the first page whom they paged before, when they did. How often they repeat is no matter. */
export function stepsKept(
  before: readonly EscalationStep[],
  after: readonly EscalationStep[],
): number {
  const whom = (step: EscalationStep) => ({ ...step, repeat_minutes: 0 });
  const pairs = before.slice(0, after.length).map((step, i) => [step, after[i]] as const);
  const other = pairs.findIndex(([was, is]) => is && !same(whom(was), whom(is)));
  return other === -1 ? pairs.length : other;
}

/** Null where it is off now; else the one that was pending, if it is sooner. */
function sooner(pending: number | null, next: number | null): number | null {
  return next === null || pending === null ? next : Math.min(pending, next);
}

function requiet(change: {
  before: TimedRule;
  after: TimedRule;
  timers: Timers;
  now: number;
}): number | null {
  const before = change.before.auto_resolve_quiet_minutes * 60;
  const after = change.after.auto_resolve_quiet_minutes * 60;
  if (after === 0) return null;
  const { quietAt } = change.timers;
  return before === 0 || quietAt === null ? change.now + after : quietAt - before + after;
}

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
