import { openAlert } from "../alerts/open.ts";
import { renotifyBurst } from "../alerts/renotify.ts";
import { unixSeconds } from "../kit/clock.ts";
import type { Source } from "../projects/sources.ts";
import type { Store, Tx } from "../store/store.ts";
import { identifiersOf } from "./alert-key.ts";
import type { IngestEvent } from "./event.ts";
import { createLineWriter } from "./lines.ts";
import { type CompiledRule, matches } from "./match.ts";
import { createProjectStates, type ProjectState } from "./project-state.ts";
import { createStandingAlerts, type Standing } from "./standing.ts";
import { createTally, type Tally } from "./tally.ts";
import type { Mined } from "./template/miner.ts";
import { createWindows } from "./windows.ts";

/** One event on its way: who sent it and what it is. */
export interface Arrival {
  source: Source;
  event: IngestEvent;
  /** The next one came in the same request, so both are committed together. */
  more?: boolean;
}

export interface IngestAnswer {
  /** This event opened an alert or was counted into one that is not resolved (contract §5). */
  alerted: boolean;
  template_id: string;
}

export interface WriterLimits {
  /** Rows of one transaction: past it no further request's events are begun. */
  rows: number;
  /** Templates a project. */
  templates: number;
  /** Templates in memory, of all projects; a project that is let go is read back when it is needed. */
  heldTemplates: number;
  standingAlerts: number;
  windowKeys: number;
  windowHits: number;
}

export const defaultWriterLimits: WriterLimits = {
  rows: 2_000,
  templates: 10_000,
  heldTemplates: 100_000,
  standingAlerts: 50_000,
  windowKeys: 20_000,
  windowHits: 500_000,
};

export interface Writer {
  /**
   * Processes a batch in one transaction, committed before this returns. Where its alerts make too many rows
   * it ends early, with the answers of the whole requests that it came to; the rest is the caller's to send
   * again. Throws with everything undone, memory too.
   */
  process(batch: readonly Arrival[]): IngestAnswer[];
  /** What memory knows of the projects, for reads of templates. */
  project(projectId: number): ProjectState;
  stats(): { templates: number; overflowed: number };
  readonly tally: Tally;
}

/**
 * The hot path: template, line, rules, fold or open, for a whole batch in one transaction. Memory
 * follows the commit: after a rollback all of it is dropped and read back when next needed.
 */
export function createWriter(store: Store, limits: WriterLimits): Writer {
  const projects = createProjectStates(store, limits);
  const standing = createStandingAlerts(limits.standingAlerts);
  const windows = createWindows({ keys: limits.windowKeys, hits: limits.windowHits });
  const lines = createLineWriter();
  const bursts: { key: string; alert: Standing }[] = [];
  let opened = false;
  const tally = createTally();
  /** Whose events no rule matched, in the batch that is open. */
  let unmatched: Source[] = [];

  store.onCommit((notes) => {
    for (const note of notes) {
      if (note.topic === "alert" && !note.opened) standing.forget(note.alertKey);
      if (note.topic === "config") projects.reloadRules(note.projectId);
      if (note.topic === "project-deleted") {
        projects.forget(note.projectId);
        standing.clear();
      }
      if (note.topic === "config" || note.topic === "project-deleted") windows.clear();
    }
  });

  const mineAll = (tx: Tx, batch: readonly Arrival[]): Mined[] => {
    const mined = batch.map(({ source, event }) =>
      projects.get(source.projectId).miner.mine(event.message),
    );
    for (const projectId of new Set(batch.map(({ source }) => source.projectId))) {
      if (projects.writeTemplates(tx, projectId)) {
        standing.clear();
        windows.clear();
      }
    }
    return mined;
  };

  const foldInto = (
    key: string,
    alert: Standing,
    event: IngestEvent,
    seen: { at: number; template: string; dedupSeconds: number },
  ) => {
    if (
      seen.dedupSeconds > 0 &&
      alert.state === "open" &&
      seen.at - alert.lastSeen > seen.dedupSeconds
    )
      bursts.push({ key, alert });
    alert.count++;
    alert.level = Math.max(alert.level, event.level);
    alert.lastSeen = seen.at;
    alert.lastMessage = event.message;
    alert.template = seen.template;
    standing.touch(key, alert);
  };

  const apply = (tx: Tx, rule: CompiledRule, arrival: Arrival, mined: Mined): boolean => {
    const { source, event } = arrival;
    const key = rule.keyOf(mined.root.id, event.keys);
    const quietSeconds = rule.rule.auto_resolve_quiet_minutes * 60;
    // A key whose window is open has no standing alert: firing closes the one and opens the other.
    const alert = windows.has(key) ? null : standing.find(tx, key, quietSeconds);
    if (alert !== null) {
      foldInto(key, alert, event, {
        at: tx.at,
        template: mined.root.text,
        dedupSeconds: rule.rule.dedup_window_minutes * 60,
      });
      return true;
    }
    const fired = rule.atOnce
      ? { count: 1, firstSeen: tx.at, level: event.level }
      : windows.count(tx, rule, { key, sourceId: source.id, level: event.level });
    if (fired === null) return false;
    opened = true;
    openAlert(tx, {
      projectId: source.projectId,
      rule: rule.rule,
      alertKey: key,
      templateId: mined.root.id,
      template: mined.root.text,
      level: fired.level,
      count: fired.count,
      firstSeen: fired.firstSeen,
      lastMessage: event.message,
      source: source.name,
      identifiers: identifiersOf(rule.rule.identifier_keys, event.keys),
    });
    return true;
  };

  /** Whether the alerts that were opened made more rows than one transaction should hold. */
  const isFull = (tx: Tx, rowsBefore: number): boolean => {
    if (!opened) return false;
    opened = false;
    return rowsOf(tx) - rowsBefore > limits.rows;
  };

  const run = (tx: Tx, batch: readonly Arrival[]): IngestAnswer[] => {
    const rowsBefore = rowsOf(tx);
    const mined = mineAll(tx, batch);
    const answers: IngestAnswer[] = [];
    let full = false;
    for (const [i, arrival] of batch.entries()) {
      const { source, event } = arrival;
      const template = mined[i] as Mined;
      if (source.retainLogs) lines.add({ source, at: tx.at, templateId: template.id, event });
      let matched = false;
      let alerted = false;
      for (const rule of projects.get(source.projectId).rules.of(source.name, template)) {
        if (!matches(rule, event)) continue;
        matched = true;
        if (apply(tx, rule, arrival, template)) alerted = true;
      }
      if (!matched) unmatched.push(source);
      answers.push({ alerted, template_id: template.id });
      full ||= isFull(tx, rowsBefore);
      if (full && !arrival.more) break;
    }
    lines.flush(tx);
    windows.flush(tx);
    standing.flush(tx);
    for (const { alert } of bursts.splice(0)) renotifyBurst(tx, alert.id);
    return answers;
  };

  return {
    process(batch) {
      try {
        const answers = store.write((tx) => run(tx, batch), { expendable: true });
        projects.trim();
        tally.add(batch, answers.length, { unmatched, at: unixSeconds(store.clock) });
        return answers;
      } catch (error) {
        projects.clear();
        standing.clear();
        windows.clear();
        lines.clear();
        bursts.length = 0;
        opened = false;
        throw error;
      } finally {
        unmatched = [];
      }
    },
    project: (projectId) => projects.get(projectId),
    stats: () => projects.stats(),
    tally,
  };
}

/** Rows written since the store was opened; each transaction looks at the difference. */
function rowsOf(tx: Tx): number {
  return tx.sql<[], number>("SELECT total_changes()").pluck().get() ?? 0;
}
