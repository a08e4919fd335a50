import type { EscalationStep } from "../../src/core/projects/rule.ts";
import { type Book, climbing, MINUTE, NEVER, ruleOf, say, type Told } from "./book.ts";
import { onCall, rotaOf } from "./rota.ts";
import type { ClimbStep } from "./shared.ts";

/** Steps counted from 0, `until` being the first that isn't one of them. */
export interface Span {
  from: number;
  until: number;
}

/** The minute of a step: in array order none comes before the one ahead of it. */
export function dueMinute(ladder: readonly EscalationStep[], step: number): number {
  return Math.max(...ladder.slice(0, step + 1).map(({ after_minutes }) => after_minutes));
}

/** When a step of an alert is due, elapsed. */
export function moment(book: Book, alert: Told, step: number): number {
  return alert.openedAt + dueMinute(climbing(book, alert), step) * MINUTE;
}

function reached({ world, gone }: Book, step: EscalationStep, wall: number): string[] {
  return [
    ...step.accounts,
    ...step.schedules.flatMap((name) => onCall(rotaOf(world.rotas, name), wall)),
  ].filter((account) => !gone.has(account));
}

function page(book: Book, alert: Told, { from, until, wall }: Span & { wall: number }): boolean {
  const steps = climbing(book, alert).slice(from, until);
  const people = steps.flatMap((step) => reached(book, step, wall));
  if (people.length === 0) return false;
  alert.level = steps.at(-1)?.number ?? 0;
  alert.accounts = [...new Set(people)];
  say(book, alert, { event: "alert.escalated", wall });
  return true;
}

/** The steps that run together with the one before `until`. */
export function rungBefore(book: Book, alert: Told, until: number): Span {
  let from = until - 1;
  while (from > 0 && moment(book, alert, from - 1) === moment(book, alert, until - 1)) from -= 1;
  return { from, until };
}

/** Runs steps; on to the next time while nobody is reached. */
export function run(book: Book, alert: Told, first: Span & { again: boolean; wall: number }): void {
  const { wall } = first;
  const ladder = climbing(book, alert);
  let range: Span = first;
  let isPaged = page(book, alert, { ...range, wall });
  while (!isPaged && range.until < ladder.length) {
    let until = range.until + 1;
    const at = moment(book, alert, range.until);
    while (until < ladder.length && moment(book, alert, until) === at) until += 1;
    range = { from: range.until, until };
    isPaged = page(book, alert, { ...range, wall });
  }
  alert.turns = Math.max(alert.turns, range.until);
  // Nobody paged at all, and steps below that a change of the ladder left behind: the nearest of them.
  if (alert.level === 0 && !first.again)
    for (let until = first.from; until > 0; ) {
      const below = rungBefore(book, alert, until);
      if (page(book, alert, { ...below, wall })) break;
      until = below.from;
    }
  const areGone = alert.level > 0 && alert.accounts.every((account) => book.gone.has(account));
  if (ladder[range.until - 1]?.isEnd || (first.again && !isPaged && areGone))
    pageFallback(book, alert, wall);
  goOn(book, alert, wall);
}

export function pageFallback(book: Book, alert: Told, wall: number): void {
  const people = book.world.fallback.filter((account) => !book.gone.has(account));
  if (people.length === 0) return;
  alert.accounts = people;
  say(book, alert, { event: "alert.escalated", wall });
}

/** When the step after the last turn is due, and its repeat, counted from `wall`. */
export function goOn(book: Book, alert: Told, wall: number): void {
  const { turns } = alert;
  const steps = climbing(book, alert).length;
  alert.stepAt = turns < steps ? moment(book, alert, turns) : NEVER;
  alert.repeatAt = wall - book.jumped + repeatSeconds(book, alert);
}

/** Every how many seconds the steps of the last turn are repeated. */
export function repeatSeconds(book: Book, alert: Told): number {
  if (alert.turns === 0) return NEVER;
  const { from, until } = rungBefore(book, alert, alert.turns);
  const steps = climbing(book, alert).slice(from, until);
  return Math.min(...steps.map(({ repeat_minutes: n }) => (n > 0 ? n * MINUTE : NEVER)), NEVER);
}

export function renotifyFrom(book: Book, alert: Told, now: number): number {
  const { renotify_minutes, max_renotify } = ruleOf(book, alert);
  const capped = max_renotify > 0 && alert.renotified >= max_renotify;
  return renotify_minutes === 0 || capped ? NEVER : now + renotify_minutes * MINUTE;
}

/** What an alert's rule was. */
export interface Before {
  climb: readonly ClimbStep[];
  /** Minutes; 0: it wasn't counted. */
  quiet: number;
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** An alert follows its rule: what has run and pages the same people stays so; else the furthest passed step, at once. */
export function follow(
  book: Book,
  alert: Told,
  { before, wall }: { before: Before; wall: number },
): void {
  const now = wall - book.jumped;
  const ladder = climbing(book, alert);
  alert.changedAt = now;
  if (before.quiet === 0) alert.quietSince = now;
  if (alert.state !== "open") {
    forget(book, alert, before);
    return;
  }
  const next = renotifyFrom(book, alert, now);
  alert.renotifyAt = next === NEVER ? NEVER : Math.min(alert.renotifyAt, next);
  if (isSame(timed(before.climb), timed(ladder))) return;

  const pending = alert.repeatAt;
  const own = alert.openedAt + dueMinute(before.climb, alert.turns) * MINUTE;
  const isOwed = alert.stepAt <= now && alert.stepAt > own;
  forget(book, alert, before);
  const passed = ladder.findIndex((_, step) => moment(book, alert, step) > now);
  const until = passed === -1 ? ladder.length : passed;
  const { turns } = alert;
  // A page that an earlier change made due hasn't gone yet.
  const ran = isOwed && until > 0 ? Math.min(turns, rungBefore(book, alert, until).from) : turns;
  if (until > ran) {
    alert.turns = Math.max(ran, rungBefore(book, alert, until).from);
    // A step that was due and had not run is made up for with it.
    if (alert.stepAt <= now) {
      const missed = ladder.findIndex((_, step) => moment(book, alert, step) >= alert.stepAt);
      alert.turns = Math.min(alert.turns, Math.max(ran, missed === -1 ? until : missed));
    } else alert.stepAt = now;
    alert.repeatAt = NEVER;
    return;
  }
  alert.stepAt = ran < ladder.length ? moment(book, alert, ran) : NEVER;
  const repeat = repeatSeconds(book, alert);
  alert.repeatAt = repeat === NEVER ? NEVER : Math.min(pending, now + repeat);
}

/** Steps of a changed ladder that page others than they did, or at another time, have not had their turn. */
export function forget(book: Book, alert: Told, before: Before): void {
  const ladder = climbing(book, alert);
  if (isSame(timed(before.climb), timed(ladder))) return;
  const whom = (steps: readonly ClimbStep[], n: number) =>
    timed(steps.slice(0, n)).map((step) => ({ ...step, repeat_minutes: 0 }));
  let ran = alert.level === 0 ? 0 : Math.min(alert.turns, ladder.length);
  while (!isSame(whom(before.climb, ran), whom(ladder, ran))) ran -= 1;
  alert.turns = ran;
}

/** Which pass a step is of makes it no other step. */
const timed = (steps: readonly ClimbStep[]) => steps.map(({ number, ...step }) => step);
