import { z } from "zod";
import { contactKindList } from "../contacts/list.ts";
import { createReachable, type Reachable } from "../paging/reachable.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { Reader } from "../store/store.ts";
import type { AlertRow } from "./alert.ts";
import { released } from "./hold.ts";
import { type Climb, earliest, type Span, type Timers, whatIsDue } from "./ladder.ts";
import { createReach, type Seats, storedSeats } from "./reach.ts";
import { findRule } from "./rule-of.ts";
import { type ClimbingAlert, climbsOf, timersAfter } from "./settle.ts";
import { timersAtOpening, timersOf } from "./timers.ts";

export const rungAhead = z
  .object({
    at: z.int(),
    step: z.int().meta({ description: "The highest that runs then, from 1." }),
    why: z.enum(["step", "repeat", "nobody_reached_before", "renotify"]),
    accounts: z.array(z.string()).meta({ description: "Empty: it reaches nobody." }),
    schedules: z.array(z.string()).meta({ description: "Of the steps that run then." }),
  })
  .meta({ id: "NextRung" });
export type RungAhead = z.output<typeof rungAhead>;

/** Who has a seat, who can be reached and what the rules say, as the store has it now: each looked up once. */
export interface LookAhead {
  seats: Seats;
  reachable: Reachable;
  /** By row id; null: it was deleted. */
  rule(id: number): StoredRule | null;
}

export function lookAhead(reader: Reader): LookAhead {
  const rules = new Map<number, StoredRule | null>();
  return {
    seats: storedSeats(reader),
    reachable: createReachable(reader, contactKindList),
    rule(id) {
      const known = rules.get(id);
      if (known !== undefined) return known;
      const rule = findRule(reader, id);
      rules.set(id, rule);
      return rule;
    },
  };
}

const DAY = 86_400;
const MOST = 200;

/**
 * What the ladder will do within a day of `now` (Unix seconds) if nobody takes the alert and nothing ends it: as rule,
 * schedules and silences stand. At most `most`, or 200. `look`: for several alerts at once, what each would look up.
 */
export function rungsAhead(
  reader: Reader,
  row: AlertRow,
  now: number,
  { most = MOST, look = lookAhead(reader) }: { most?: number; look?: LookAhead } = {},
): RungAhead[] {
  const rule = look.rule(row.rule_id);
  const timers = rule === null ? null : ladderTimers(row, rule);
  if (rule === null || timers === null) return [];
  const ladder = {
    ...{ rule, timers, alert: row, paged: JSON.parse(row.page_accounts) as string[] },
    ...{ seats: look.seats, reachable: look.reachable },
  };
  const rungs: RungAhead[] = [];
  for (const rung of rungsFrom(ladder, { now, until: now + DAY })) {
    rungs.push(rung);
    if (rungs.length === most) break;
  }
  return rungs;
}

/** A ladder from where it stands; `paged`: whom its alert paged last. */
export interface StandingLadder {
  rule: StoredRule;
  timers: Timers;
  alert: ClimbingAlert;
  paged: readonly string[];
  seats: Seats;
  reachable: Reachable;
}

/** Its rungs and renotifies from `now` until then, Unix seconds, as nobody takes the alert. */
export function* rungsFrom(
  ladder: StandingLadder,
  { now, until }: { now: number; until: number },
): Generator<RungAhead, void, void> {
  const { rule, seats, reachable } = ladder;
  const alert = { ...ladder.alert };
  let timers = ladder.timers;
  let paged = [...ladder.paged];
  for (;;) {
    const next: number | null = earliest(timers);
    if (next === null || next > until) return;
    const at = Math.max(next, now);
    const due = whatIsDue(rule, timers, at);
    if (due.steps === null && due.renotify === null) return;
    const reach = createReach(at, seats);
    const climbs = climbsOf(alert, { rule, span: due.steps, reach, reachable });
    for (const climb of climbs) yield { at, ...rungOf(climb, due.steps as Span, rule) };
    const last = climbs.findLast((climb) => climb.paged !== null)?.paged ?? null;
    if (last !== null) alert.escalation_level = last.span.last;
    paged = [...(last?.accounts ?? paged)];
    if (due.renotify !== null)
      yield { at, step: alert.escalation_level, why: "renotify", accounts: paged, schedules: [] };
    timers = timersAfter({ rule, timers, due, climbed: climbs.at(-1) ?? null, now: at });
  }
}

/** The ladder's timers alone, as they will run: once nothing holds the alert back, or nobody has it any more. */
function ladderTimers(row: AlertRow, rule: StoredRule): Timers | null {
  const { state, wakes_at, held_until } = row;
  const alone = { quietAt: null, expiresAt: null, wakesAt: null };
  if (state === "resolved") return null;
  if (state === "acknowledged")
    return wakes_at === null ? null : { ...timersAtOpening(rule, wakes_at), ...alone };
  const timers = { ...timersOf(row), ...alone };
  if (held_until === null) return timers;
  const loud = released(timers, { rule, isUntold: row.untold === 1, now: held_until });
  return { ...loud, ...alone };
}

function rungOf({ step, paged }: Climb, span: Span, rule: StoredRule): Omit<RungAhead, "at"> {
  const { first, last } = paged?.span ?? { first: span.first, last: step };
  const schedules = rule.escalations.slice(first - 1, last).flatMap((one) => one.schedules);
  const isAsMeant = paged === null || paged.span.first === span.first;
  return {
    step: last,
    why: !isAsMeant ? "nobody_reached_before" : span.repeat ? "repeat" : "step",
    accounts: paged?.accounts ?? [],
    schedules: [...new Set(schedules)],
  };
}
