import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { handOverPages } from "../../out/outbox/stand-down.ts";
import { handOverPersonal } from "../../out/paging/pages.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { takeOccurrences } from "./buckets.ts";
import type { Timers } from "./ladder.ts";
import { lookAgainAt } from "./look-again.ts";
import { resolve } from "./resolve.ts";
import { writeTimeline } from "./timeline.ts";
import { noTimers, timerColumns, timersOf } from "./timers.ts";
import { tellWorse } from "./worse.ts";

/** What an alert is counted under: its key, and the root of its template. */
export interface AlertPlace {
  alertKey: string;
  templateId: string;
}

/** An alert goes on under another key, which no other standing alert has. */
export function moveAlert(tx: Tx, id: number, { alertKey, templateId }: AlertPlace): AlertRow {
  return change(tx, getAlertRow(tx, id), { alert_key: alertKey, template_id: templateId });
}

/**
 * Makes one of two standing alerts of one rule whose keys turned out to be one; returns the id of the one that
 * lives, now under `place`. The other is resolved and says into which.
 *
 * An acknowledgement holds for what somebody saw, so where one is open and one acknowledged, the open one lives. Of two
 * in one state the first lives. Nothing that either owes ends, comes later or is withdrawn with it.
 */
export function mergeAlerts(tx: Tx, ids: readonly [number, number], place: AlertPlace): number {
  const [first, second] = ids.toSorted((a, b) => a - b).map((id) => getAlertRow(tx, id)) as [
    AlertRow,
    AlertRow,
  ];
  const [kept, ended] =
    first.state === "open" || second.state !== "open" ? [first, second] : [second, first];
  if (ended.state === "open") {
    handOverPages(tx, { from: ended.id, to: kept.id });
    handOverPersonal(tx, { from: ended.id, to: kept.id });
  }
  resolve(tx, ended.id, { reason: "merged", detail: { into: String(kept.id) } });
  take(tx, moveAlert(tx, kept.id, place), ended);
  writeTimeline(tx, kept.id, {
    kind: "merged",
    detail: { alert: String(ended.id), state: ended.state, count: ended.count },
  });
  return kept.id;
}

/** What `kept` becomes with all that was counted into `ended`, and all that it owed. */
function take(tx: Tx, kept: AlertRow, ended: AlertRow): void {
  const later = ended.last_seen > kept.last_seen ? ended : kept;
  const both = change(tx, kept, {
    level: Math.max(kept.level, ended.level),
    count: kept.count + ended.count,
    first_seen: Math.min(kept.first_seen, ended.first_seen),
    last_seen: later.last_seen,
    last_message: later.last_message,
    escalation_level: Math.max(kept.escalation_level, ended.escalation_level),
    page_accounts: JSON.stringify(pagedByEither(kept, ended)),
    updated_seq: takeSequence(tx, "updated_seq"),
    // Of several sources it is no one's: a silence of one of them doesn't take it.
    source: kept.source === ended.source ? kept.source : null,
    ...timerColumns(mergedTimers(kept, ended)),
  });
  takeOccurrences(tx, { from: ended.id, into: kept.id });
  const looked = lookAgainAt(tx, both);
  if (ended.level > kept.level) tellWorse(tx, looked, kept.level);
  if (both.due_at !== null) tx.note({ topic: "due", at: both.due_at });
}

/** Whom renotifies page: whom the higher ladder paged last; of two that stand alike, and beside one that paged nobody, both. */
function pagedByEither(kept: AlertRow, ended: AlertRow): string[] {
  const [own, other] = [kept, ended].map(
    ({ page_accounts }) => JSON.parse(page_accounts) as string[],
  ) as [string[], string[]];
  const [high, low] = ended.escalation_level > kept.escalation_level ? [other, own] : [own, other];
  const isAlike = kept.escalation_level === ended.escalation_level;
  return high.length > 0 && !isAlike ? high : [...new Set([...high, ...low])];
}

/** The quiet of both lasts; of two open alerts all that is owed by either. */
function mergedTimers(kept: AlertRow, ended: AlertRow): Timers {
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
export function owedByEither(a: Timers, b: Timers): Timers {
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
