import { noteChange } from "../../core/alerts/changes.ts";
import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import { wasAlert } from "../../core/alerts/named.ts";
import { findReopenable, reopen } from "../../core/alerts/reopen.ts";
import { dueWaiting } from "../../core/alerts/waiting.ts";
import { patternTimeOf } from "../../core/projects/pattern.ts";
import type { Source } from "../../core/projects/sources.ts";
import type { Tx } from "../../ground/store/store.ts";
import { keyPrefix } from "./alert-key.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { isNewTo, type Novelty } from "./first-seen.ts";
import { createFolding, lasting } from "./folding.ts";
import { createGoingOn } from "./going-on.ts";
import type { Habits } from "./habits.ts";
import { type CompiledRule, matches } from "./match.ts";
import { createMissing } from "./missing.ts";
import { conclude, heldFiring, identified, nameScopeOf, subjectMaker } from "./named.ts";
import type { NamedState } from "./named-fields.ts";
import type { OpenAlerts } from "./open-alerts.ts";
import { createOpener, foundOf, namedBy } from "./opening.ts";
import type { ProjectStates } from "./project-state.ts";
import { createRowsTaken } from "./rows-taken.ts";
import type { Mined } from "./template/miner.ts";
import { createTooMany } from "./too-many.ts";
import type { Unresolved } from "./unresolved.ts";
import { concludeWaiting, createWaitingBook, identifiedWaiting } from "./waiting.ts";
import type { Firing } from "./window.ts";
import type { Windows } from "./windows.ts";

/** The result of one event. */
export interface Done {
  answer: IngestAnswer;
  /** A firing that every rule knows already. It is reported each minute, and makes no log line. */
  isRepeat: boolean;
}

/** What events do to alerts: fold into one, open one, end one; in the caller's transaction. */
type Effects = ReturnType<typeof createEffects>;

/**
 * What became of an event under one rule. "again": the same firing was reported again. "held": so it was, and there is no alert:
 * somebody resolved it here a short while ago, or it waits. "none": it counts towards an alert.
 */
type Became = "alerted" | "again" | "held" | "none";

interface Known {
  mined: Mined;
  novelty: Novelty;
}

/** What a rule knows of an event that it takes. */
interface Taken {
  mined: Mined;
  because: Readonly<Record<string, number>>;
}

export function createEffects(memory: {
  projects: ProjectStates;
  openAlerts: OpenAlerts;
  windows: Windows;
  unresolved: Unresolved;
  habits: Habits;
}) {
  const { projects, openAlerts, windows, habits } = memory;
  const tooMany = createTooMany(openAlerts, memory.unresolved);
  const waiting = createWaitingBook();
  const subjectOf = subjectMaker();
  const folding = createFolding(openAlerts, projects);
  const rows = createRowsTaken();
  const goingOn = createGoingOn(openAlerts, memory.unresolved);
  const { open, settle } = createOpener({ tooMany, waiting, rows });
  let nothing: Effects["nothing"] = { unmatched: [], unmatchedResolves: [], clockSuspects: [] };

  /** Writes what memory holds of the batch, because the operations on alerts read the table. */
  const writeSoFar = (tx: Tx) => {
    windows.flush(tx);
    waiting.flush(tx);
    openAlerts.flush(tx);
    folding.flush(tx);
    tooMany.flush(tx);
  };

  const missing = createMissing({ projects, openAlerts, habits, goingOn, rows, open, writeSoFar });

  /** An event that acts on named alerts other than by firing. */
  const concludeNamed = (
    tx: Tx,
    { source, event }: Arrival,
    said: NamedState,
    mined: Mined,
  ): Done => {
    if (said.action === "change") {
      const href = event.extra?.links[0]?.href ?? null;
      noteChange(tx, source.projectId, { source: source.name, message: event.message, href });
      return { answer: { alerted: false, template_id: mined.id }, isRepeat: false };
    }
    writeSoFar(tx);
    rows.expect(tx);
    const { rules } = projects.get(source.projectId);
    const scope = { projectId: source.projectId, room: nameScopeOf(source) };
    const known = identified(tx, source, said);
    const named = rules.waits ? identifiedWaiting(tx, scope, known) : known;
    const { resolved, keys } = conclude(tx, { source, named, event });
    const waited = rules.waits ? concludeWaiting(tx, waiting, { scope, named, event }) : 0;
    const isUnknown = keys.length === 0 && waited === 0;
    // The operations changed rows that are cached; what was counted before the end counts no more.
    for (const key of keys) openAlerts.forget(key);
    if (named.action === "resolve") {
      if (isUnknown) nothing.unmatchedResolves.push(source);
      if (named.dedupKey !== null) {
        const subject = subjectOf(scope.room, named.dedupKey);
        let isNew = isUnknown && named.justEnded === true;
        for (const { rule, atOnce } of rules.all) {
          // Whatever the identifiers, because an end seldom has them.
          if (!atOnce) windows.drop(tx, rule, subject);
          tooMany.ended(rule.id, subject);
          isNew &&= !wasAlert(tx, keyPrefix(rule.id, subject));
        }
        if (isNew) nothing.clockSuspects.push(source);
      }
    }
    const alerted = keys.length > resolved;
    const ended = named.action === "resolve" ? { resolved } : {};
    const isRepeat = named.action === "update";
    return { answer: { alerted, template_id: mined.id, ...ended }, isRepeat };
  };

  const keyOf = (rule: CompiledRule, { source, event }: Arrival, mined: Mined) => {
    const named = namedBy(event);
    const subject = named === null ? mined.root.id : subjectOf(nameScopeOf(source), named.dedupKey);
    return { subject, key: rule.keyOf(subject, event.keys) };
  };

  /** What waits under the key takes the event; null where nothing does. */
  const waitWith = (
    tx: Tx,
    rule: CompiledRule,
    key: string,
    { event, source, known }: Arrival & { known: Taken },
  ): Became | null => {
    const one = waiting.find(tx, key);
    if (one === null) return null;
    if (one.due_at <= tx.at) {
      settle(tx, rule, one);
      return apply(tx, rule, { event, source }, known);
    }
    const said = { ...event, source: source.name, template: known.mined.root.text };
    return waiting.hear(tx, rule, one, said) ? "none" : "held";
  };

  const apply = (tx: Tx, rule: CompiledRule, arrival: Arrival, known: Taken): Became => {
    const { mined, because } = known;
    const { source, event } = arrival;
    const { subject, key } = keyOf(rule, arrival, mined);
    const quietSeconds = rule.rule.auto_resolve_quiet_minutes * 60;
    // A key with an open window has no open alert: firing closes the window and opens the alert.
    const alert = windows.has(key) ? null : openAlerts.find(tx, key, quietSeconds);
    if (alert !== null) {
      const isNews = folding.into(tx, rule, { key, alert }, { ...arrival, mined });
      return isNews ? "alerted" : "again";
    }
    if (rule.waitSeconds > 0) {
      const waited = waitWith(tx, rule, key, { ...arrival, known });
      if (waited !== null) return waited;
    }
    const { swallowed, stillFiring } = heldFiring(tx, key, event);
    if (swallowed) return "held";
    if (reopens(tx, rule, key, { arrival, template: mined.root.text })) {
      openAlerts.dropReport(key);
      return "alerted";
    }
    const fired: Firing | null = rule.atOnce
      ? { count: 1, firstSeen: tx.at, level: event.level, sources: 1 }
      : windows.count(tx, rule, { key, sourceId: source.id, event });
    if (fired === null) return "none";
    const dedupKey = namedBy(event)?.dedupKey ?? null;
    const room = nameScopeOf(source);
    const found = foundOf(tx, rule, { arrival, mined, subject, fired, stillFiring, because });
    const { labels } = fired;
    const { keys } = event;
    if (rule.waitSeconds > 0) {
      rows.expect(tx);
      const said = labels ?? withKeys(NO_LABELS, keys, rule.names);
      const one = { key, room, dedupKey, found: { ...found, labels: said } };
      if (waiting.begin(tx, rule, one)) return "none";
    }
    open(tx, rule, { key, room, dedupKey, found, labels, keys, waited: null });
    return "alerted";
  };

  /** Of a rule that asks for new templates: whether this one is, or goes on with what was. */
  const isAskedFor = (tx: Tx, rule: CompiledRule, arrival: Arrival, known: Known): boolean => {
    const { mined, novelty } = known;
    if (rule.firstSeenSeconds === 0) return true;
    if (!novelty.isLearning && isNewTo(rule, novelty, tx.at)) return true;
    // Most events of such a rule end here, so its key isn't made for them.
    if (rule.waitSeconds === 0 && !goingOn.hasAny(tx, rule)) return false;
    const { key } = keyOf(rule, arrival, mined);
    return (rule.waitSeconds > 0 && waiting.find(tx, key) !== null) || goingOn.has(tx, rule, key);
  };

  const fire = (tx: Tx, arrival: Arrival, known: Known): Done => {
    const { mined: template, novelty } = known;
    const { source, event } = arrival;
    let alerted = false;
    let isNews = false;
    let isRepeat = false;
    const time = patternTimeOf(tx);
    for (const rule of projects.get(source.projectId).rules.of(source.name, template)) {
      if (!matches(rule, event, time)) continue;
      const more = habits.comparedTo(tx, rule, arrival, template.root.id);
      if (more === "usual") continue;
      if (!isAskedFor(tx, rule, arrival, known)) continue;
      const because: Record<string, number> = { ...more };
      if (rule.firstSeenSeconds > 0)
        because["not_heard_for"] = novelty.after === Infinity ? 0 : novelty.after;
      const became = apply(tx, rule, arrival, { mined: template, because });
      if (became === "alerted" || became === "again") alerted = true;
      if (became === "again" || became === "held") isRepeat = true;
      else isNews = true;
    }
    if (!isNews && !isRepeat) nothing.unmatched.push(source);
    return { answer: { alerted, template_id: template.id }, isRepeat: isRepeat && !isNews };
  };

  return {
    of(tx: Tx, arrival: Arrival, known: Known): Done {
      missing.hear(tx, arrival, known.mined);
      const named = arrival.event.named ?? null;
      return named === null || named.action === "fire"
        ? fire(tx, arrival, known)
        : concludeNamed(tx, arrival, named, known.mined);
    },
    goingOn,
    missing,
    /** Looks at so many of those whose wait is over: each opens, or is forgotten. */
    settleWaiting(tx: Tx, most: number) {
      for (const one of dueWaiting(tx, tx.at, most)) {
        const { all } = projects.get(one.project_id).rules;
        const rule = all.find(({ rule: { id } }) => id === one.rule_id);
        const quiet = (rule?.rule.auto_resolve_quiet_minutes ?? 0) * 60;
        const isOpen = openAlerts.find(tx, one.alert_key, quiet) !== null;
        if (rule === undefined || isOpen) waiting.forget(tx, one.alert_key);
        else settle(tx, rule, one);
      }
    },
    /** Writes what is only in memory so far. */
    flush: writeSoFar,
    /** Rows that the batch's opened and ended alerts wrote so far, with their deliveries. */
    rowsTaken: rows.count,
    /** The sources of this batch's events that had no effect. */
    get nothing(): { unmatched: Source[]; unmatchedResolves: Source[]; clockSuspects: Source[] } {
      return nothing;
    },
    /** Undoes the batch in memory. */
    undo() {
      tooMany.undo();
      folding.undo();
      goingOn.clear();
      missing.clear();
    },
    /** The batch is over: committed, or undone in memory. */
    reset() {
      openAlerts.settle();
      tooMany.settle();
      waiting.clear();
      folding.settle();
      rows.reset();
      nothing = { unmatched: [], unmatchedResolves: [], clockSuspects: [] };
    },
  };
}

/** If the rule says so, an alert that ended a short while ago reopens, in place of a new one (contract §22). */
function reopens(
  tx: Tx,
  { rule }: CompiledRule,
  key: string,
  { arrival, template }: { arrival: Arrival; template: string },
): boolean {
  const last = findReopenable(tx, key, rule.reopen_within_seconds);
  if (last === null) return false;
  const { message: lastMessage, level, named, title = null, keys } = arrival.event;
  reopen(tx, last, rule, {
    level,
    lastMessage,
    template,
    title,
    keys,
    source: arrival.source.name,
    instance: named?.instance ?? null,
    expiresAt: lasting(named?.expiresAt ?? null, tx.at),
  });
  return true;
}
