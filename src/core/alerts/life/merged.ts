import type { AlertColumns } from "../apply.ts";
import type { Timers } from "../ladder.ts";
import { noTimers, timersOf } from "../timers.ts";
import { type Life, set, setTimers, type Turn } from "./turn.ts";

/** One of two alerts that turned out to be one takes what the other, which ended, owed. */

/** `counted`: what events into either came to. */
export function takeOver(turn: Turn, of: { other: Life; counted: AlertColumns }): void {
  const { alert: kept, moment } = turn;
  const { other: ended, counted } = of;
  setTimers(turn, mergedTimers(kept, ended), {
    ...counted,
    level: Math.max(kept.level, ended.level),
    escalation_level: Math.max(kept.escalation_level, ended.escalation_level),
    page_accounts: JSON.stringify(pagedByEither(kept, ended)),
    updated_seq: moment.nextSeq(),
  });
  // What it is, and how bad, may be another: what holds its news back is looked at again.
  if (kept.silenced_by !== null) set(turn, { held_until: moment.at, due_at: moment.at });
}

/** Whom renotifies page: whom the higher ladder paged last; of two that stand alike, and beside one that paged nobody, both. */
function pagedByEither(kept: Life, ended: Life): string[] {
  const [own, other] = [kept, ended].map(
    ({ page_accounts }) => JSON.parse(page_accounts) as string[],
  ) as [string[], string[]];
  const [high, low] = ended.escalation_level > kept.escalation_level ? [other, own] : [own, other];
  const isAlike = kept.escalation_level === ended.escalation_level;
  return high.length > 0 && !isAlike ? high : [...new Set([...high, ...low])];
}

/** The quiet of both lasts; of two open alerts all that is owed by either. */
function mergedTimers(kept: Life, ended: Life): Timers {
  const [own, other] = [timersOf(kept), timersOf(ended)];
  const quietAt = latest(own.quietAt, other.quietAt);
  const wakesAt = soonest(own.wakesAt, other.wakesAt);
  if (kept.state !== "open") return { ...noTimers(own), quietAt, wakesAt };
  if (ended.state !== "open") return { ...own, quietAt };
  return { ...owedByEither(own, other), quietAt };
}

/**
 * One ladder that pages nobody later than either of two open alerts of one rule would have. It lies at the earlier opening,
 * so that each step comes by then at the latest. Where one ladder stands higher, it goes on from the lower one: at the
 * time at which either would have paged next, all steps that have passed run as one.
 */
function owedByEither(a: Timers, b: Timers): Timers {
  const level = a.step === b.step;
  return {
    ladderFrom: Math.min(a.ladderFrom, b.ladderFrom),
    step: Math.min(a.step, b.step),
    stepAt: level
      ? soonest(a.stepAt, b.stepAt)
      : soonest(a.stepAt, b.stepAt, a.repeatAt, b.repeatAt),
    repeatAt: level ? soonest(a.repeatAt, b.repeatAt) : null,
    renotifyAt: soonest(a.renotifyAt, b.renotifyAt),
    renotified: Math.min(a.renotified, b.renotified),
    quietAt: latest(a.quietAt, b.quietAt),
    expiresAt: latest(a.expiresAt, b.expiresAt),
    heldUntil:
      a.heldUntil === null || b.heldUntil === null ? null : soonest(a.heldUntil, b.heldUntil),
    wakesAt: soonest(a.wakesAt, b.wakesAt),
    undeliveredAt: soonest(a.undeliveredAt, b.undeliveredAt),
  };
}

function soonest(...times: (number | null)[]): number | null {
  const set = times.filter((at) => at !== null);
  return set.length === 0 ? null : Math.min(...set);
}

/** Null, for never, is later than any time. */
function latest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}
