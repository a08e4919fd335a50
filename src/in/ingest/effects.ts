import { noteChange } from "../../core/alerts/changes.ts";
import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import { wasAlert } from "../../core/alerts/named.ts";
import { openAlert } from "../../core/alerts/open.ts";
import { isOfSeveral } from "../../core/alerts/recheck.ts";
import { renotifyBurst } from "../../core/alerts/renotify.ts";
import { findReopenable, reopen } from "../../core/alerts/reopen.ts";
import { patternTimeOf } from "../../core/projects/pattern.ts";
import type { Source } from "../../core/projects/sources.ts";
import type { Tx } from "../../ground/store/store.ts";
import { identifiersOf, keyPrefix } from "./alert-key.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import type { IngestEvent } from "./event.ts";
import { isNewTo, type Novelty } from "./first-seen.ts";
import { createGoingOn, type GoingOn } from "./going-on.ts";
import { type CompiledRule, matches } from "./match.ts";
import { conclude, heldFiring, identified, nameScopeOf, subjectMaker } from "./named.ts";
import type { Extra, NamedState } from "./named-fields.ts";
import type { OpenAlert, OpenAlerts } from "./open-alerts.ts";
import type { ProjectStates } from "./project-state.ts";
import { createRowsTaken } from "./rows-taken.ts";
import type { Mined } from "./template/miner.ts";
import { createTooMany } from "./too-many.ts";
import type { Unresolved } from "./unresolved.ts";
import type { Firing } from "./window.ts";
import type { Windows } from "./windows.ts";

/** The result of one event. */
export interface Done {
  answer: IngestAnswer;
  /** A firing that every rule knows already. It is reported each minute, and makes no log line. */
  isRepeat: boolean;
}

/** What events do to alerts: fold into one, open one, end one; in the caller's transaction. */
export interface Effects {
  of(tx: Tx, arrival: Arrival, known: { mined: Mined; novelty: Novelty }): Done;
  readonly goingOn: GoingOn;
  /** Writes what is only in memory so far. */
  flush(tx: Tx): void;
  /** Rows that the batch's opened and ended alerts wrote so far, with their deliveries. */
  rowsTaken(tx: Tx): number;
  /** The sources of this batch's events that had no effect. */
  readonly nothing: { unmatched: Source[]; unmatchedResolves: Source[]; clockSuspects: Source[] };
  /** Undoes the batch in memory. */
  undo(): void;
  /** The batch is over: committed, or undone in memory. */
  reset(): void;
}

export function createEffects(memory: {
  projects: ProjectStates;
  openAlerts: OpenAlerts;
  windows: Windows;
  unresolved: Unresolved;
}): Effects {
  const { projects, openAlerts, windows } = memory;
  const tooMany = createTooMany(openAlerts, memory.unresolved);
  const subjectOf = subjectMaker();
  const bursts: { key: string; alert: OpenAlert }[] = [];
  const rows = createRowsTaken();
  const goingOn = createGoingOn(openAlerts, memory.unresolved);
  let nothing: Effects["nothing"] = { unmatched: [], unmatchedResolves: [], clockSuspects: [] };

  /** Writes what memory holds of the batch, because the operations on alerts read the table. */
  const writeSoFar = (tx: Tx) => {
    windows.flush(tx);
    openAlerts.flush(tx);
    for (const { alert } of bursts.splice(0)) renotifyBurst(tx, alert.id);
    tooMany.flush(tx);
  };

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
    const named = identified(tx, source, said);
    const { resolved, keys } = conclude(tx, { source, named, event });
    // The operations changed rows that are cached; what was counted before the end counts no more.
    for (const key of keys) openAlerts.forget(key);
    if (named.action === "resolve") {
      if (keys.length === 0) nothing.unmatchedResolves.push(source);
      if (named.dedupKey !== null) {
        const subject = subjectOf(nameScopeOf(source), named.dedupKey);
        let isNew = keys.length === 0 && named.justEnded === true;
        for (const { rule, atOnce } of projects.get(source.projectId).rules.all) {
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

  const foldInto = (
    tx: Tx,
    { rule, names }: CompiledRule,
    { key, alert, template }: { key: string; alert: OpenAlert; template: string },
    event: IngestEvent,
  ) => {
    const seen = { at: tx.at, template, dedupSeconds: rule.dedup_window_minutes * 60 };
    const named = namedBy(event);
    const saysMore = openAlerts.hear(tx, key, { alert, event, names });
    if (named !== null) {
      const expiresAt = lasting(named.expiresAt, seen.at);
      if (
        named.instance !== null &&
        named.instance === alert.instance &&
        event.level <= alert.level
      ) {
        if (openAlerts.refresh(key, alert, { at: seen.at, expiresAt, saysMore })) {
          alert.lastMessage = event.message;
          alert.template = seen.template;
        }
        return false;
      }
      alert.expiresAt = expiresAt;
      if (named.instance === null || named.instance !== alert.instance) alert.count++;
      alert.instance = named.instance;
    } else {
      alert.count++;
    }
    if (
      seen.dedupSeconds > 0 &&
      alert.state === "open" &&
      seen.at - alert.lastSeen > seen.dedupSeconds
    )
      bursts.push({ key, alert });
    alert.level = Math.max(alert.level, event.level);
    alert.lastSeen = seen.at;
    alert.lastMessage = event.message;
    alert.template = seen.template;
    openAlerts.touch(key, alert);
    return true;
  };

  /** Opens an alert, unless its rule has too many open ones and the one that lists the rest took it. */
  const open = (
    tx: Tx,
    {
      rule: { rule, names },
      key,
      subject,
      fired,
      stillFiring,
      silentFor,
    }: {
      rule: CompiledRule;
      key: string;
      subject: string;
      fired: Firing;
      stillFiring: number | null;
      silentFor: number | null;
    },
    { source, event }: Arrival,
    mined: Mined,
  ) => {
    rows.expect(tx);
    const named = namedBy(event);
    const identifiers = identifiersOf(rule.identifier_keys, event.keys);
    const called = named?.dedupKey ?? mined.root.text;
    const { keys } = event;
    const found = { rule, names, key, subject, fired, identifiers, keys, called };
    if (tooMany.took(tx, { ...found, source: source.name })) return;
    openAlert(tx, {
      projectId: source.projectId,
      rule,
      alertKey: key,
      templateId: mined.root.id,
      template: mined.root.text,
      level: fired.level,
      count: fired.count,
      firstSeen: fired.firstSeen,
      lastMessage: event.message,
      source: source.name,
      isOfOneSource: fired.sources === 1,
      silentFor,
      identifiers,
      named:
        named === null
          ? null
          : {
              dedupKey: named.dedupKey,
              room: nameScopeOf(source),
              stillFiring,
              instance: named.instance,
              expiresAt: lasting(named.expiresAt, tx.at),
            },
      title: event.title ?? null,
      labels: fired.labels ?? withKeys(NO_LABELS, keys, names),
      extra: event.extra ? JSON.stringify(extraColumns(event.extra)) : null,
    });
  };

  const keyOf = (rule: CompiledRule, { source, event }: Arrival, mined: Mined) => {
    const named = namedBy(event);
    const subject = named === null ? mined.root.id : subjectOf(nameScopeOf(source), named.dedupKey);
    return { subject, key: rule.keyOf(subject, event.keys) };
  };

  /**
   * The effect of an event under one rule. "again": the same firing was reported again. "held": somebody resolved this
   * firing here a short while ago.
   */
  const apply = (
    tx: Tx,
    rule: CompiledRule,
    arrival: Arrival,
    { mined, novelty }: { mined: Mined; novelty: Novelty },
  ): "alerted" | "again" | "held" | "none" => {
    const { source, event } = arrival;
    const { subject, key } = keyOf(rule, arrival, mined);
    const quietSeconds = rule.rule.auto_resolve_quiet_minutes * 60;
    // A key with an open window has no open alert: firing closes the window and opens the alert.
    const alert = windows.has(key) ? null : openAlerts.find(tx, key, quietSeconds);
    if (alert !== null) {
      if (alert.source !== null && alert.source !== source.name) {
        alert.source = null;
        isOfSeveral(tx, alert.id);
      }
      const isNews = foldInto(tx, rule, { key, alert, template: mined.root.text }, event);
      return isNews ? "alerted" : "again";
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
    const silentFor = rule.firstSeenSeconds > 0 ? novelty.after : null;
    open(tx, { rule, key, subject, fired, stillFiring, silentFor }, arrival, mined);
    return "alerted";
  };

  const fire = (tx: Tx, arrival: Arrival, known: { mined: Mined; novelty: Novelty }): Done => {
    const { mined: template, novelty } = known;
    const { source, event } = arrival;
    let alerted = false;
    let isNews = false;
    let isRepeat = false;
    const time = patternTimeOf(tx);
    for (const rule of projects.get(source.projectId).rules.of(source.name, template)) {
      if (!matches(rule, event, time)) continue;
      if (rule.firstSeenSeconds > 0 && (novelty.isLearning || !isNewTo(rule, novelty, tx.at))) {
        if (!goingOn.has(tx, rule, keyOf(rule, arrival, template).key)) continue;
      }
      const became = apply(tx, rule, arrival, known);
      if (became === "alerted" || became === "again") alerted = true;
      if (became === "again" || became === "held") isRepeat = true;
      else isNews = true;
    }
    if (!isNews && !isRepeat) nothing.unmatched.push(source);
    return { answer: { alerted, template_id: template.id }, isRepeat: isRepeat && !isNews };
  };

  return {
    of(tx, arrival, known) {
      const named = arrival.event.named ?? null;
      return named === null || named.action === "fire"
        ? fire(tx, arrival, known)
        : concludeNamed(tx, arrival, named, known.mined);
    },
    goingOn,
    flush: writeSoFar,
    rowsTaken: rows.count,
    get nothing() {
      return nothing;
    },
    undo() {
      tooMany.undo();
      goingOn.clear();
    },
    reset() {
      openAlerts.settle();
      tooMany.settle();
      bursts.length = 0;
      rows.reset();
      nothing = { unmatched: [], unmatchedResolves: [], clockSuspects: [] };
    },
  };
}

/** What the sender says of the alert that the event names; null without a name. */
function namedBy({ named }: IngestEvent): (NamedState & { dedupKey: string }) | null {
  if (named === undefined || named === null || named.dedupKey === null) return null;
  return { ...named, dedupKey: named.dedupKey };
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

/** An expiry in the past only means that the sender's clock is wrong. */
function lasting(expiresAt: number | null, at: number): number | null {
  return expiresAt !== null && expiresAt > at ? expiresAt : null;
}

function extraColumns({ details, links, images, occurredAt }: Extra) {
  return { details, links, images, occurred_at: occurredAt };
}
