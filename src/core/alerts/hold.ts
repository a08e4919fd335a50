import { takeSequence } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { patternTimeOf } from "../projects/pattern.ts";
import type { StoredRule } from "../projects/rule.ts";
import {
  decideQuiet,
  type Quiet,
  type ReadySilence,
  type Subject,
  silencesTaking,
} from "../quiet/decide.ts";
import { begunSilences, silencesWithin } from "../quiet/rows.ts";
import { aboveOf } from "./above.ts";
import type { AlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { type Due, ladderOnwards, type Timers } from "./ladder.ts";
import { writeTimeline } from "./timeline.ts";
import { timerColumns, timersAtOpening, timersOf } from "./timers.ts";

/** Holding an alert's news back while it is quiet, and letting go of it. */

const known = new WeakMap<Tx, ReadySilence[]>();

/** Silences that aren't over, looked up once for each transaction. */
export function silencesIn(tx: Tx): readonly ReadySilence[] {
  let silences = known.get(tx);
  if (silences === undefined) {
    silences = silencesWithin(tx, { from: tx.at, until: Number.MAX_SAFE_INTEGER });
    known.set(tx, silences);
  }
  return silences;
}

/** What keeps the alert quiet at this transaction's time; null: nothing. */
export function quietIn(tx: Tx, row: AlertRow, rule: StoredRule | null): Quiet | null {
  return quietBy(tx, row, { rule, silences: silencesIn(tx), at: tx.at });
}

/** As `quietIn`, of a moment outside a transaction. */
export function quietAt(
  reader: Reader,
  row: AlertRow,
  { rule, at }: { rule: StoredRule | null; at: number },
): Quiet | null {
  return quietBy(reader, row, { rule, silences: begunSilences(reader, at), at });
}

/** As `quietIn`, by these silences. */
export function quietBy(
  reader: Reader,
  row: AlertRow,
  of: { rule: StoredRule | null; silences: readonly ReadySilence[]; at: number },
): Quiet | null {
  if (of.silences.length === 0 && !of.rule?.silenced_by.length) return null;
  const subject = subjectOf(row);
  const above = aboveOf(reader, subject, of.rule);
  const silences = silencesTaking(subject, { ...of, time: patternTimeOf(reader) });
  return decideQuiet(subject, { silences, above }, of.at);
}

/**
 * What keeps the alert quiet at any time, by these silences and the alerts that stand above it now; null: nothing does, as
 * things stand.
 */
export function quietAhead(
  reader: Reader,
  row: AlertRow,
  of: { rule: StoredRule; silences: readonly ReadySilence[] },
): ((at: number) => Quiet | null) | null {
  if (of.silences.length === 0 && !of.rule?.silenced_by.length) return null;
  const subject = subjectOf(row);
  const above = aboveOf(reader, subject, of.rule);
  const silences = silencesTaking(subject, { ...of, time: patternTimeOf(reader) });
  if (silences.length === 0 && above.length === 0) return null;
  return (at) => decideQuiet(subject, { silences, above }, at);
}

function subjectOf(row: AlertRow): Subject {
  return {
    projectId: row.project_id,
    rule: row.rule,
    templateId: row.template_id,
    identifiers: JSON.parse(row.identifiers) as Record<string, string>,
    source: row.source,
    level: row.level,
  };
}

/** What would have been told now; "nothing" where there is no news, and an alert is only looked at. */
export type HeldNews = "opened" | "step" | "renotify" | "page" | "nothing";

/** What would be told of an alert now. */
export function newsOf({ steps, renotify }: Due): HeldNews {
  if (steps !== null) return "step";
  return renotify !== null ? "renotify" : "nothing";
}

/** Holds an open alert's news back until what keeps it quiet ends; `also`: people who are told again at its end, too. */
export function hold(
  tx: Tx,
  row: AlertRow,
  { quiet, news, also = [] }: { quiet: Quiet; news: HeldNews; also?: readonly string[] },
): AlertRow {
  const { by, kind, until, reason } = quiet;
  const isUntold = row.untold === 1;
  const isNew = row.silenced_by !== by;
  const held = change(tx, row, {
    silenced_by: by,
    untold: news === "opened" ? 1 : row.untold,
    updated_seq: isNew ? takeSequence(tx, "updated_seq") : row.updated_seq,
    ...timerColumns(heldTimers(timersOf(row), { until, news, isUntold, now: tx.at })),
  });
  if (isNew || row.held_until !== until || news === "page")
    writeTimeline(tx, row.id, {
      kind: "silenced",
      detail: { by, kind, until, reason, held: news, ...(also.length > 0 && { also }) },
    });
  if (held.due_at !== null) tx.note({ topic: "due", at: held.due_at });
  if (isNew) noteMark(tx, row);
  return held;
}

/** Its mark came or went: for whoever watches alerts. */
function noteMark(tx: Tx, { id, alert_key, rule_id }: AlertRow): void {
  tx.note({
    topic: "alert",
    alertId: id,
    alertKey: alert_key,
    ruleId: rule_id,
    opened: false,
    unresolved: 0,
  });
}

/**
 * An alert's timers while it is quiet until then. What has no timer of its own, a renotify of a burst or a page, is owed as
 * a renotify, unless nobody was told of the alert at all. Pure.
 */
export function heldTimers(
  timers: Timers,
  of: { until: number; news: HeldNews; isUntold: boolean; now: number },
): Timers {
  const { until, news, isUntold, now } = of;
  const isOwed = (news === "renotify" || news === "page") && !isUntold;
  const renotifyAt = isOwed ? Math.min(timers.renotifyAt ?? now, now) : timers.renotifyAt;
  return { ...timers, renotifyAt, heldUntil: until };
}

/** When a renotify that is held back was due; null: none is. */
export function heldRenotify({ heldUntil, renotifyAt }: Timers, now: number): number | null {
  return heldUntil !== null && renotifyAt !== null && renotifyAt <= now ? renotifyAt : null;
}

/** It is quiet no more: the marks go, and the ladder goes on from now; of one that nobody heard of it begins. */
export function release(tx: Tx, row: AlertRow, rule: StoredRule | null): AlertRow {
  const timers = released(timersOf(row), { rule, isUntold: row.untold === 1, now: tx.at });
  const loud = change(tx, row, {
    silenced_by: null,
    untold: 0,
    updated_seq: takeSequence(tx, "updated_seq"),
    ...timerColumns(timers),
  });
  const since = quietSince(tx, row.id);
  writeTimeline(tx, row.id, { kind: "silence_over", detail: { by: row.silenced_by, since } });
  noteMark(tx, row);
  return loud;
}

const SINCE = `SELECT min(at) FROM timeline WHERE alert_id = :id AND kind = 'silenced'
  AND id > coalesce((SELECT max(id) FROM timeline WHERE alert_id = :id AND kind = 'silence_over'), 0)`;

/** When what holds an alert's news back began to, Unix seconds. */
function quietSince(tx: Tx, id: number): number {
  return tx.sql<[{ id: number }], number | null>(SINCE).pluck().get({ id }) ?? tx.at;
}

/** An alert's timers once it is quiet no more. Pure. */
export function released(
  timers: Timers,
  of: { rule: StoredRule | null; isUntold: boolean; now: number },
): Timers {
  const { rule, isUntold, now } = of;
  const { quietAt: ends, expiresAt, wakesAt } = timers;
  const loud = { ...timers, heldUntil: null };
  const isGiven = timers.stepAt === null;
  if (rule === null) return loud;
  if (isUntold) {
    const timers = { ...timersAtOpening(rule, now, expiresAt), quietAt: ends, wakesAt };
    // It was given to somebody alone, whose the ladder's place is.
    return isGiven ? { ...timers, stepAt: null } : timers;
  }
  return ladderOnwards(loud, now);
}
