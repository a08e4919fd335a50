import * as z from "zod";
import { finish } from "../../ground/kit/slices.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { waitingPages } from "../../out/paging/pages.ts";
import { createReachable, type Reachable } from "../../out/paging/reachable.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { ReadySilence } from "../quiet/decide.ts";
import { silencesWithin } from "../quiet/rows.ts";
import type { AlertRow } from "./alert.ts";
import { followAlert } from "./course.ts";
import type {
  OpenAlertRow,
  Rung,
  SimulationContext,
  SimulationQuery,
  SimulationResult,
} from "./course-shape.ts";
import { ladderBefore, ruleBefore } from "./followers.ts";
import { quietAhead, silencesIn } from "./hold.ts";
import { type Timers, wholeLadder } from "./ladder.ts";
import { retimedBy } from "./life/rule.ts";
import type { Life } from "./life/turn.ts";
import { type FallbackPlaces, readFallbackPlaces } from "./nobody-reached.ts";
import { reachableIn } from "./personal.ts";
import { type OnCallLookup, readSeats } from "./reach.ts";
import { findRule, goneRule } from "./rule-of.ts";
import { timerColumns, timersOf } from "./timers.ts";
import { whileRuleUnchanged } from "./unchanged.ts";
import { fallbackSince, undeliveredOf } from "./undelivered.ts";

export const rungAhead = z
  .object({
    at: z.int(),
    step: z.int().meta({ description: "The highest that runs then, from 1." }),
    why: z.enum(["step", "repeat", "nobody_reached_before", "renotify", "fallback"]),
    accounts: z.array(z.string()).meta({ description: "Empty: it reaches nobody." }),
    schedules: z.array(z.string()).meta({ description: "Of the rungs that run then." }),
  })
  .meta({ id: "NextRung" });
export type RungAhead = z.output<typeof rungAhead>;

/** Who has a seat, who can be reached, what is silenced and what the rules say, as the store has it now: each looked up once. */
export interface LookAhead {
  seats: OnCallLookup;
  reachable: Reachable;
  readonly fallback: FallbackPlaces;
  /** Those that aren't over. */
  readonly silences: readonly ReadySilence[];
  /** By row id; null: it was deleted. */
  rule(id: number): StoredRule | null;
}

const knownRules = whileRuleUnchanged<StoredRule | null>();

/** `now` in Unix seconds. */
export function lookAhead(reader: Reader, now: number): LookAhead {
  const before = knownRules(reader);
  const rules = new Map<number, StoredRule | null>();
  let fallback: FallbackPlaces | undefined;
  let silences: readonly ReadySilence[] | undefined;
  return {
    seats: readSeats(reader),
    reachable: createReachable(reader),
    get fallback() {
      fallback ??= readFallbackPlaces(reader);
      return fallback;
    },
    get silences() {
      silences ??= silencesWithin(reader, { from: now, until: Number.MAX_SAFE_INTEGER });
      return silences;
    },
    rule(id) {
      return rules.getOrInsertComputed(id, () => before(id, () => findRule(reader, id)));
    },
  };
}

const DAY = 86_400;
const MOST = 200;

/**
 * What the ladder will do within a day of `now` (Unix seconds) if nobody takes the alert and nothing ends it: as rule,
 * schedules, people and silences stand, those to come included. At most 200.
 */
export function rungsAhead(reader: Reader, row: AlertRow, now: number): RungAhead[] {
  return dayAhead(reader, row, now).rungs;
}

/** The same, and what of it is held back on the way: when it would have been told, and until when it waits. */
export function dayAhead(
  reader: Reader,
  row: AlertRow,
  now: number,
): { rungs: RungAhead[]; held: SimulationResult["held"] } {
  const asked = { at: now, until: now + DAY, most: MOST };
  return ahead(reader, row, { ...asked, look: lookAhead(reader, now) });
}

/** The first of them: all that happens at that time. `look`: for several alerts at once, what each would look up. */
export function nextRungs(
  reader: Reader,
  row: AlertRow,
  { now, look }: { now: number; look: LookAhead },
): RungAhead[] {
  const asked = { at: now, until: now + DAY, most: MOST };
  return ahead(reader, row, { ...asked, look, isEnough: ({ rungs }) => rungs.length > 0 }).rungs;
}

/** Longer than anything is silenced by one thing. */
const FAR = 40 * DAY;
const MOST_FAR = 2000;

/** When each step of its ladder that is still to come runs, by number; those that are farther ahead than is followed left out. */
export function stepsAhead(reader: Reader, row: AlertRow, now: number): Map<number, number> {
  const look = lookAhead(reader, now);
  const steps = look.rule(row.rule_id)?.escalations.length ?? 0;
  const asked = { at: now, until: now + FAR, most: MOST_FAR };
  const isEnough = ({ step }: SimulationResult) => step >= steps;
  const found = new Map<number, number>();
  for (const { at, span } of follow(reader, row, { ...asked, look, isEnough })?.rungs ?? [])
    for (let step = span?.first ?? 1; step <= (span?.last ?? 0); step += 1)
      if (step > row.step && !found.has(step)) found.set(step, at);
  return found;
}

type Asked = Pick<SimulationQuery, "at" | "until" | "most"> & {
  look: LookAhead;
  isEnough?: (course: SimulationResult) => boolean;
};

function ahead(reader: Reader, row: AlertRow, asked: Asked): ReturnType<typeof dayAhead> {
  const course = follow(reader, row, asked);
  if (course === null) return { rungs: [], held: [] };
  const rule = asked.look.rule(row.rule_id) ?? goneRule(row);
  return { rungs: shown(rule, course.rungs), held: course.held };
}

/** null: nobody is paged of it any more. */
function follow(reader: Reader, seen: AlertRow, of: Asked): SimulationResult | null {
  const { look, isEnough = () => false, ...asked } = of;
  const found = look.rule(seen.rule_id);
  const rule = found ?? goneRule(seen);
  const row = found === null ? seen : asFollowed(reader, seen, { rule: found, at: asked.at });
  if (!isAnybodyPaged(row, rule)) return null;
  const around = surroundingsOf(reader, row, { rule, look });
  const alert = lastingOf(row, timersOf(row));
  // A page that is due while it is quiet is owed at the end of that.
  const pages = around.quietAt === null ? [] : waitingPages(reader, row.id);
  const from = {
    alert,
    pages,
    fallbackSince: () => fallbackSince(reader, row.id),
    undelivered() {
      const undelivered = undeliveredOf(reader, row, { reachable: look.reachable, now: asked.at });
      // What was made just now is taken to get through.
      return (undelivered?.lastDue ?? 0) > asked.at - JUST_NOW_SECONDS ? null : undelivered;
    },
  };
  const question = { ...asked, until: untilEnd(row, asked.until), ...NOBODY_ANSWERS };
  return finish(followAlert(around, question, { from, isEnough }));
}

/** Of which nothing waits, and each page got through. */
const taken = (alert: Life): OpenAlertRow => ({
  alert,
  pages: [],
  fallbackSince: () => null,
  undelivered: () => null,
});

/** Whom an alert's ladder pages at `now` with these timers, each once; nobody where nothing of it is due. */
export function pagedAtOnce(
  reader: Reader,
  row: AlertRow,
  of: { rule: StoredRule; timers: Timers; look: LookAhead; now: number },
): ReadonlySet<string> {
  const { rule, timers, look, now } = of;
  const paged = new Set<string>();
  const isDue = [timers.stepAt, timers.repeatAt].some((at) => at !== null && at <= now);
  if (row.state !== "open" || !isDue) return paged;
  const around = surroundingsOf(reader, row, { rule, look });
  const from = taken(lastingOf(row, { ...timers, renotifyAt: null }));
  const question = { at: now, until: now, most: MOST, ...NOBODY_ANSWERS };
  for (const { accounts } of finish(followAlert(around, question, { from })).rungs)
    for (const account of accounts) paged.add(account);
  return paged;
}

/** An alert as it is once it has followed its rule's ladder. */
export function asFollowed(
  reader: Reader,
  row: AlertRow,
  { rule, at }: { rule: StoredRule; at: number },
): AlertRow {
  const before = ladderBefore(reader, row.id);
  if (before === null) return row;
  const timers = retimedBy(row, { before: ruleBefore(rule, before), after: rule, now: at });
  return { ...row, ...timerColumns(timers) };
}

/** A drill goes no further than its end, whoever answers. */
function untilEnd({ drill, expires_at }: AlertRow, until: number): number {
  return drill === 0 || expires_at === null ? until : Math.min(until, expires_at - 1);
}

const JUST_NOW_SECONDS = 30;

const NOBODY_ANSWERS = { rings: false, silent: new Set<string>(), ack: null };

/** Whether its ladder has anybody to page, or somebody to tell again. */
function isAnybodyPaged(row: AlertRow, { escalations }: StoredRule): boolean {
  if (row.state === "resolved" || (row.state === "acknowledged" && row.wakes_at === null))
    return false;
  return escalations.length > 0 || row.page_accounts !== "[]";
}

/**
 * What the ladder does next, after `row`, however far ahead that is: its rungs of one time, no renotify. Empty: it has run.
 */
export function nextOfLadder(
  tx: Tx,
  row: AlertRow,
  { rule, seats }: { rule: StoredRule; seats: OnCallLookup },
): Rung[] {
  const timers = timersOf(row);
  if (timers.stepAt === null && timers.repeatAt === null) return [];
  const around = surroundingsOf(tx, row, {
    rule: { ...rule, renotify_minutes: 0 },
    look: {
      seats,
      reachable: reachableIn(tx),
      silences: silencesIn(tx),
      get fallback() {
        return readFallbackPlaces(tx);
      },
    },
  });
  const from = {
    ...taken(lastingOf(row, { ...timers, renotifyAt: null })),
    fallbackSince: () => fallbackSince(tx, row.id),
  };
  const isTold = ({ why }: Rung) => why !== "renotify";
  const until = untilEnd(row, Number.MAX_SAFE_INTEGER);
  const asked = { at: tx.at, until, most: MOST, ...NOBODY_ANSWERS };
  const isEnough = ({ rungs }: SimulationResult) => rungs.some(isTold);
  return finish(followAlert(around, asked, { from, isEnough })).rungs.filter(isTold);
}

function surroundingsOf(
  reader: Reader,
  row: AlertRow,
  { rule, look }: { rule: StoredRule; look: Omit<LookAhead, "rule"> },
): SimulationContext {
  return {
    rule,
    level: row.level,
    seats: look.seats,
    reachable: look.reachable,
    get fallback() {
      return look.fallback;
    },
    quietAt: quietAhead(reader, row, { rule, silences: look.silences }),
  };
}

/** An alert as its row has it, with these timers; what would end it by itself, a drill left out, doesn't. */
function lastingOf(row: AlertRow, timers: Timers): Life {
  const lasting = { ...timers, quietAt: null, expiresAt: null };
  return { ...row, expires_at: null, ...timerColumns(lasting) };
}

/** Of steps that reach nobody nothing is said where others are paged at the same time in their place. */
function shown(rule: StoredRule, rungs: readonly Rung[]): RungAhead[] {
  let passed: string[] = [];
  return rungs.flatMap(({ at, step, why, accounts, span }, i): RungAhead[] => {
    const own = span === null ? [] : schedulesOf(rule, span);
    const next = rungs[i + 1];
    const isPassed = accounts.length === 0 && next?.at === at && next.why !== "renotify";
    const schedules = accounts.length > 0 ? own : [...passed, ...own];
    passed = isPassed ? schedules : [];
    if (isPassed) return [];
    return [{ at, step, why, accounts: [...accounts], schedules: [...new Set(schedules)] }];
  });
}

export const schedulesOf = (
  rule: StoredRule,
  { first, last }: { first: number; last: number },
): string[] =>
  wholeLadder(rule)
    .slice(first - 1, last)
    .flatMap(({ schedules }) => schedules);
