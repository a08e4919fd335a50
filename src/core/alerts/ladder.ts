import type { EscalationStep, StoredRule } from "../projects/rule.ts";

/**
 * The ladder and everything else timed on an alert, as values (contract §5). Times are Unix seconds;
 * steps are counted from 1.
 *
 * Steps run in array order, so a step is never due before the one ahead of it. Steps due at one time
 * are one event: together they are a *rung*, with the last one's level and everybody's accounts. A rung
 * repeats as often as the step of it that repeats most often.
 */

/** What the rule says of time. */
export type TimedRule = Pick<
  StoredRule,
  | "escalations"
  | "passes"
  | "pass_after_minutes"
  | "renotify_minutes"
  | "max_renotify"
  | "auto_resolve_quiet_minutes"
>;

/** A step of the whole ladder: of each of its passes, in order. */
interface PassStep extends EscalationStep {
  /** Behind the last pass of several: the fallback is paged, and nothing repeats from then on. */
  isEnd?: true;
}

type Passes = Pick<StoredRule, "escalations" | "passes" | "pass_after_minutes">;

const wholes = new WeakMap<readonly EscalationStep[], [of: string, ladder: PassStep[]]>();

/**
 * All steps that a rule's ladder runs, those of its second pass behind those of its first. A ladder of one pass is its steps;
 * one of several ends with a step for the fallback.
 */
export function wholeLadder({
  escalations,
  passes = 1,
  pass_after_minutes: pause,
}: Passes): readonly PassStep[] {
  if (passes === 1 || escalations.length === 0) return escalations;
  const of = `${passes} ${pause}`;
  const known = wholes.get(escalations);
  if (known?.[0] === of) return known[1];
  const lap = secondsOf(escalations, escalations.length) / 60 + (pause ?? 0);
  const ladder: PassStep[] = Array.from({ length: passes }, (_, pass) =>
    escalations.map((step) => ({ ...step, after_minutes: pass * lap + step.after_minutes })),
  ).flat();
  const end = { accounts: [], schedules: [], after_minutes: passes * lap, repeat_minutes: 0 };
  ladder.push({ ...end, isEnd: true });
  wholes.set(escalations, [of, ladder]);
  return ladder;
}

/** A step of the whole ladder by its number in each pass. The end counts as the last step. */
export function numberInPass({ escalations, passes = 1 }: Passes, step: number): number {
  const most = escalations.length;
  if (passes === 1 || most === 0) return step;
  return step > passes * most ? most : ((step - 1) % most) + 1;
}

/** Steps from one to another by their numbers, each once. */
export function numbersIn(rule: Passes, { first, last }: { first: number; last: number }) {
  const steps = Array.from({ length: last - first + 1 }, (_, i) => numberInPass(rule, first + i));
  return [...new Set(steps)];
}

/** An alert's timed parts. */
export interface Timers {
  /** What `after_minutes` counts from: the opening, moved with each jump of the clock. */
  ladderFrom: number;
  /** Steps that have had their turn. */
  step: number;
  stepAt: number | null;
  repeatAt: number | null;
  renotifyAt: number | null;
  /** How often `renotify_minutes` has fired. */
  renotified: number;
  quietAt: number | null;
  /** When its sender's word runs out; null where it gave none. */
  expiresAt: number | null;
  /** While its news is held back: when that is looked at again. Neither ladder nor renotify runs until then. */
  heldUntil: number | null;
  /** When its acknowledgement ends; null: it doesn't. */
  wakesAt: number | null;
  /** When the fallback is paged unless a page has got through by then; null: others are paged before, or somebody was. */
  undeliveredAt: number | null;
}

/** Steps that run as one. */
export interface Span {
  first: number;
  last: number;
  /** When the last of them was due. */
  dueAt: number;
  repeat: boolean;
}

export interface Due {
  /** Quiet for long enough, or not reported in time: it resolves, and nothing else of it runs. */
  resolve: "quiet" | "stale" | null;
  /** Of the ladder. After a gap every step that was missed, as one. */
  steps: Span | null;
  /** When a renotify was due, or null. */
  renotify: number | null;
}

/** What is due of an open alert at `now`. A step takes the place of a repeat that is due with it. */
export function whatIsDue(rule: TimedRule, timers: Timers, now: number): Due {
  if (isDue(timers.quietAt, now)) return { resolve: "quiet", steps: null, renotify: null };
  if (isDue(timers.expiresAt, now)) return { resolve: "stale", steps: null, renotify: null };
  return {
    resolve: null,
    steps: stepsDue(wholeLadder(rule), timers, now),
    renotify: isDue(timers.renotifyAt, now) ? timers.renotifyAt : null,
  };
}

function isDue(at: number | null, now: number): at is number {
  return at !== null && at <= now;
}

function stepsDue(ladder: readonly EscalationStep[], timers: Timers, now: number): Span | null {
  if (isDue(timers.stepAt, now) && timers.step < ladder.length) {
    const next = nextRung(ladder, timers.step) as Rung;
    // The step's own time counts even where it lies after `now`: its column said that it is due.
    const last = Math.max(next.last, stepsBy(ladder, now - timers.ladderFrom));
    // A change of the rule may make a step due later than its time.
    const dueAt = Math.max(timers.stepAt, timers.ladderFrom + secondsOf(ladder, last));
    return { first: next.first, last, dueAt, repeat: false };
  }
  if (isDue(timers.repeatAt, now) && timers.step > 0) {
    const last = Math.min(timers.step, ladder.length);
    const first = firstOfRung(ladder, last);
    return { first, last, dueAt: timers.repeatAt, repeat: true };
  }
  return null;
}

interface Rung {
  first: number;
  last: number;
}

/** How long after the opening a step is due, in seconds: never before the one ahead of it. */
export function secondsOf(ladder: readonly EscalationStep[], step: number): number {
  let minutes = 0;
  for (const { after_minutes } of ladder.slice(0, step)) minutes = Math.max(minutes, after_minutes);
  return minutes * 60;
}

/** How many steps are due within this many seconds of the opening. */
export function stepsBy(ladder: readonly EscalationStep[], seconds: number): number {
  const later = ladder.findIndex(({ after_minutes }) => after_minutes * 60 > seconds);
  return later === -1 ? ladder.length : later;
}

/** The steps that run together after step `step` has had its turn; null at the top. */
export function nextRung(ladder: readonly EscalationStep[], step: number): Rung | null {
  if (step >= ladder.length) return null;
  return { first: step + 1, last: stepsBy(ladder, secondsOf(ladder, step + 1)) };
}

/** The first of the steps that run together with this one. */
export function firstOfRung(ladder: readonly EscalationStep[], step: number): number {
  const seconds = secondsOf(ladder, step);
  let first = step;
  while (first > 1 && secondsOf(ladder, first - 1) === seconds) first -= 1;
  return first;
}

/** What came of running steps. Steps are counted through all passes. */
export interface LadderRun {
  /** Where the ladder stands now. */
  step: number;
  /** Whom it pages; null where nobody was reached up to the top. */
  paged: { span: Rung; accounts: string[] } | null;
  /** Steps that reached nobody, in order. */
  nobody: number[];
}

/**
 * Runs a span: pages everyone its steps reach. Where they reach nobody the next rung runs at once, and
 * so on to the top.
 */
export function runLadder(
  ladder: readonly EscalationStep[],
  span: Rung,
  reach: (step: EscalationStep) => readonly string[],
): LadderRun {
  const nobody: number[] = [];
  let rung: Rung = span;
  while (true) {
    const { accounts, empty } = reachedBy(ladder, rung, reach);
    nobody.push(...empty);
    if (accounts.length > 0) return { step: rung.last, paged: { span: rung, accounts }, nobody };
    const next = nextRung(ladder, rung.last);
    if (next === null) return { step: rung.last, paged: null, nobody };
    rung = next;
  }
}

/** Whom a rung's steps reach, each once, and those of them that reach nobody. */
function reachedBy(
  ladder: readonly EscalationStep[],
  rung: Rung,
  reach: (step: EscalationStep) => readonly string[],
): { accounts: string[]; empty: number[] } {
  const accounts = new Set<string>();
  const empty: number[] = [];
  for (let step = rung.first; step <= rung.last; step += 1) {
    const of = ladder[step - 1] as PassStep;
    const reached = reach(of);
    if (reached.length === 0 && !of.isEnd) empty.push(step);
    for (const account of reached) accounts.add(account);
  }
  return { accounts: [...accounts], empty };
}

/**
 * As `climb`, for an alert that has paged nobody so far: where nobody is reached up to the top, the nearest rung below
 * the span that reaches somebody is paged. A changed ladder may have left steps behind that never ran.
 */
export function climbOrFallBack(
  ladder: readonly EscalationStep[],
  span: Rung,
  reach: (step: EscalationStep) => readonly string[],
): LadderRun {
  const up = runLadder(ladder, span, reach);
  for (let last = span.first - 1; last >= 1 && up.paged === null; last -= 1) {
    const rung = { first: firstOfRung(ladder, last), last };
    const { accounts } = reachedBy(ladder, rung, reach);
    if (accounts.length > 0) return { ...up, paged: { span: rung, accounts } };
    last = rung.first;
  }
  return up;
}

/**
 * Runs a span, and the rungs above it for as long as it pages only people whom nothing reaches: each is told of, none is
 * waited for. The last one says where the ladder stands.
 */
export function climbUntilReached(
  ladder: readonly EscalationStep[],
  first: LadderRun,
  how: {
    reach: (step: EscalationStep) => readonly string[];
    reaches: (account: string) => boolean;
  },
): [LadderRun, ...LadderRun[]] {
  const climbs: [LadderRun, ...LadderRun[]] = [first];
  for (let last = first; last.paged !== null && !last.paged.accounts.some(how.reaches); ) {
    const next = nextRung(ladder, last.step);
    if (next === null) break;
    last = runLadder(ladder, next, how.reach);
    climbs.push(last);
  }
  return climbs;
}

/** The ladder's columns once step `step` has run at `now`. */
export function afterStep(
  ladder: readonly EscalationStep[],
  ran: { step: number; ladderFrom: number; now: number },
): Pick<Timers, "step" | "stepAt" | "repeatAt"> {
  const { step, ladderFrom, now } = ran;
  const repeat = repeatSeconds(ladder, step);
  return {
    step,
    stepAt: step < ladder.length ? ladderFrom + secondsOf(ladder, step + 1) : null,
    repeatAt: repeat === null ? null : now + repeat,
  };
}

/** Every how many seconds the rung of this step repeats; null = once. */
export function repeatSeconds(ladder: readonly EscalationStep[], step: number): number | null {
  if (step < 1 || step > ladder.length) return null;
  const repeats = ladder
    .slice(firstOfRung(ladder, step) - 1, step)
    .map(({ repeat_minutes }) => repeat_minutes)
    .filter((minutes) => minutes > 0);
  return repeats.length === 0 ? null : Math.min(...repeats) * 60;
}

/** When the next renotify is due, counted from `now`; null when it is off or at its cap. */
export function nextRenotify(rule: TimedRule, renotified: number, now: number): number | null {
  const { renotify_minutes, max_renotify } = rule;
  if (renotify_minutes === 0) return null;
  return max_renotify > 0 && renotified >= max_renotify ? null : now + renotify_minutes * 60;
}

/** The ladder's columns where what was due waited until `now`: it runs now, and later steps keep their distance to it. */
export function ladderOnwards(timers: Timers, now: number): Timers {
  const { ladderFrom, stepAt, repeatAt } = timers;
  const times = [stepAt, repeatAt].filter((at) => at !== null);
  const waited = times.length === 0 ? 0 : Math.max(0, now - Math.min(...times));
  const later = (at: number | null) => (at === null ? null : at + waited);
  return {
    ...timers,
    ladderFrom: ladderFrom + waited,
    stepAt: later(stepAt),
    repeatAt: later(repeatAt),
    renotifyAt: isDue(timers.renotifyAt, now) ? now : timers.renotifyAt,
  };
}

/** The earliest of the timed parts; null when nothing is. */
export function earliest(
  timers: Omit<Timers, "ladderFrom" | "step" | "renotified">,
): number | null {
  const { stepAt, repeatAt, renotifyAt, undeliveredAt, heldUntil } = timers;
  const told = heldUntil === null ? [stepAt, repeatAt, renotifyAt, undeliveredAt] : [heldUntil];
  const times = [...told, timers.quietAt, timers.expiresAt, timers.wakesAt].filter(
    (at) => at !== null,
  );
  return times.length === 0 ? null : Math.min(...times);
}
