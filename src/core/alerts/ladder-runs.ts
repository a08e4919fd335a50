import type { Reachable } from "../../out/paging/reachable.ts";
import type { EscalationStep, StoredRule } from "../projects/rule.ts";
import type { AlertRow } from "./alert.ts";
import {
  afterStep,
  climbOrFallBack,
  climbUntilReached,
  type Due,
  type LadderRun,
  nextRenotify,
  runLadder,
  type Span,
  type Timers,
  wholeLadder,
} from "./ladder.ts";
import type { StepRecipients } from "./reach.ts";

/** What running what is due of an alert comes to: pure, for the alert that stands and for one that is thought of. */

/** What decides whom an alert pages, beside its rule. */
type ClimbingAlert = Pick<AlertRow, "project_id" | "level" | "escalation_level">;

/** What running a span comes to: usually one climb, more where it pages people whom nothing reaches. */
export function ladderRunsOf(
  row: ClimbingAlert,
  {
    rule,
    span,
    ...people
  }: { rule: StoredRule; span: Span | null; reach: StepRecipients; reachable: Reachable },
): LadderRun[] {
  if (span === null) return [];
  const { reachable } = people;
  const ladder = wholeLadder(rule);
  const reach = (step: EscalationStep) => people.reach(row.project_id, step);
  const first = climberOf(row, span)(ladder, span, reach);
  if (!reachable.isKnown) return [first];
  const of = { projectId: row.project_id, level: row.level };
  return climbUntilReached(ladder, first, {
    reach,
    reaches: (account) => reachable.reaches(account, of),
  });
}

/** An alert that has paged nobody yet does not stop at the top as long as anybody can be reached. */
function climberOf(row: ClimbingAlert, { repeat }: Span): typeof runLadder {
  return row.escalation_level === 0 && !repeat ? climbOrFallBack : runLadder;
}

/** Timers once what was due has run; `climbed`: the last climb of it. */
export function timersAfter(settled: {
  rule: StoredRule;
  timers: Timers;
  due: Due;
  climbed: LadderRun | null;
  now: number;
}): Timers {
  const { rule, timers, due, climbed, now } = settled;
  const next = { ...timers };
  if (climbed !== null) {
    const ran = { step: climbed.step, ladderFrom: timers.ladderFrom, now };
    Object.assign(next, afterStep(wholeLadder(rule), ran));
  }
  if (due.renotify !== null) {
    next.renotified += 1;
    next.renotifyAt = nextRenotify(rule, next.renotified, now);
  }
  return next;
}
