import { meetsAll } from "../../core/alerts/sweep.ts";
import { nextWaiting, postponeWaiting } from "../../core/alerts/waiting.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { Store, Tx, WriteOptions } from "../../ground/store/store.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { createEffects } from "./effects.ts";
import { hearEvent } from "./first-seen.ts";
import { createHabits } from "./habits.ts";
import { createHourCounts } from "./hour-counts.ts";
import { createLineWriter } from "./lines.ts";
import { createOpenAlerts } from "./open-alerts.ts";
import { createProjectStates } from "./project-state.ts";
import { createTally } from "./tally.ts";
import type { Mined } from "./template/miner.ts";
import { createTemplateCounts } from "./template-counts.ts";
import { createUnresolved } from "./unresolved.ts";
import { createWindows } from "./windows.ts";

export interface WriterLimits {
  /** Rows of one transaction: above it, no further request is begun. */
  rows: number;
  /** Templates of one project. */
  templates: number;
  /** Templates of all projects in memory; a dropped project is read again when needed. */
  heldTemplates: number;
  openAlerts: number;
  windowKeys: number;
  windowHits: number;
}

export const defaultWriterLimits: WriterLimits = {
  rows: 2_000,
  templates: 10_000,
  heldTemplates: 100_000,
  openAlerts: 50_000,
  windowKeys: 20_000,
  windowHits: 500_000,
};

/** Rules whose unresolved alerts are counted in memory; others are counted again each time. */
const RULES = 100_000;
/** What waited and is opened in one transaction. */
const OPENED_AT_ONCE = 50;
const POSTPONE_SECONDS = 60;

/** Written in the same transaction as a batch, of which so many events were processed. */
export type AlsoWritten = (tx: Tx, processed: number) => void;

export type Writer = ReturnType<typeof createWriter>;

/**
 * The hot path: template, line, rules, fold or open, for a whole batch in one transaction. Memory follows the commit:
 * after a rollback it is dropped, and read again when next needed. `failed` is told why something that waited could not open.
 */
export function createWriter(
  store: Store,
  limits: WriterLimits,
  failed: (error: unknown) => void = () => {},
) {
  const hours = createHourCounts();
  const habits = createHabits(hours);
  const counts = createTemplateCounts();
  const projects = createProjectStates(store, limits, { hours, counts });
  const openAlerts = createOpenAlerts(limits.openAlerts);
  const windows = createWindows({ keys: limits.windowKeys, hits: limits.windowHits });
  const lines = createLineWriter();
  const unresolved = createUnresolved(RULES);
  const effects = createEffects({ projects, openAlerts, windows, unresolved, habits });
  const tally = createTally();

  store.onCommit((notes) => {
    for (const note of notes) {
      unresolved.committed(note);
      effects.goingOn.noted(note);
      if (note.topic === "alert" && !note.opened) openAlerts.forget(note.alertKey);
      if (note.topic === "clock") {
        openAlerts.shift(note.by);
        projects.forgetHeard();
        windows.clear();
        hours.clear();
        habits.clear();
      }
      // A source may have been renamed.
      if (note.topic === "sources") openAlerts.clear();
      if (note.topic === "config") projects.reloadRules(note.projectId);
      if (note.topic === "project-deleted") {
        projects.forget(note.projectId);
        counts.forget(note.projectId);
        openAlerts.clear();
        unresolved.clear();
      }
      if (note.topic === "config" || note.topic === "project-deleted") {
        hours.forgetSeries(note.projectId);
        windows.clear();
        habits.clear();
        effects.missing.clear();
      }
      if (note.topic === "downtime") {
        projects.forgetHeard();
        hours.forgetDowntimes();
        habits.clear();
        effects.missing.clear();
      }
    }
  });

  /** Counts what the batch does to alerts. */
  const watched = (tx: Tx): Tx => ({
    ...tx,
    note(note) {
      unresolved.saw(note);
      effects.goingOn.noted(note);
      tx.note(note);
    },
  });

  const mineAll = (tx: Tx, batch: readonly Arrival[]): Mined[] => {
    const inBatch = new Set(batch.map(({ source }) => source.projectId));
    for (const projectId of inBatch) projects.heard(projectId);
    const mined = batch.map(({ source, event }) =>
      projects.get(source.projectId).miner.mine(event.message),
    );
    for (const projectId of inBatch) {
      if (projects.writeTemplates(tx, projectId)) {
        openAlerts.clear();
        windows.clear();
        habits.clear();
        effects.goingOn.clear();
        effects.missing.clear();
      }
    }
    return mined;
  };

  const run = (tx: Tx, batch: readonly Arrival[]): IngestAnswer[] => {
    const mined = mineAll(tx, batch);
    const answers: IngestAnswer[] = [];
    let full = false;
    for (const [i, arrival] of batch.entries()) {
      const { source, event } = arrival;
      const template = mined[i] as Mined;
      const book = projects.heard(source.projectId);
      const novelty = hearEvent(tx, book, { source, root: template.root.id });
      habits.hear(tx, source.projectId, {
        root: template.root.id,
        asked: projects.get(source.projectId).rules.asksCounts,
      });
      const { answer, isRepeat } = effects.of(tx, arrival, { mined: template, novelty });
      counts.add(tx, arrival, template.id);
      if (source.retainLogs && !isRepeat)
        lines.add({ source, at: tx.at, templateId: template.id, event });
      answers.push(answer);
      full ||= effects.rowsTaken(tx) > limits.rows;
      if (full && !arrival.more) break;
    }
    lines.flush(tx);
    effects.flush(tx);
    hours.flush(tx);
    return answers;
  };

  /** One transaction; where it fails memory is as before. */
  const written = <T>(change: (tx: Tx) => T, how?: WriteOptions): T => {
    try {
      return store.write((tx) => change(watched(tx)), how);
    } catch (error) {
      projects.clear();
      openAlerts.clear();
      windows.clear();
      lines.clear();
      counts.clear();
      hours.clear();
      habits.clear();
      effects.undo();
      throw error;
    }
  };
  /** The batch is over. */
  const reset = () => {
    effects.reset();
    unresolved.reset();
  };

  const settle = (most: number) => {
    try {
      written((tx) => {
        effects.settleWaiting(tx, most);
        effects.flush(tx);
      });
    } finally {
      reset();
    }
  };

  return {
    /**
     * Processes a batch in one transaction, which is committed before this returns. Where its alerts write too many rows
     * it ends early, and returns the answers of whole requests; the caller sends the rest again. Throws with everything
     * undone, in memory too.
     */
    process(batch: readonly Arrival[], also?: AlsoWritten): IngestAnswer[] {
      try {
        const change = (tx: Tx) => {
          const answers = run(tx, batch);
          also?.(tx, answers.length);
          return answers;
        };
        const answers = written(change, { expendable: true });
        projects.trim();
        const at = unixSeconds(store.clock);
        tally.add(batch, answers.length, { ...effects.nothing, at });
        return answers;
      } finally {
        reset();
      }
    },
    /**
     * Looks at some of what waits and is due, in one transaction: each opens its alert, or is forgotten. One that can't is looked
     * at again a minute later, and delays no other. When the next is due (Unix seconds; now or earlier: there is more; null:
     * nothing waits). Throws only what would meet every one alike.
     */
    openWaiting(): number | null {
      const next = nextWaiting(store);
      if (next === null || next > unixSeconds(store.clock)) return next;
      try {
        settle(OPENED_AT_ONCE);
      } catch (error) {
        if (meetsAll(error)) throw error;
        // One of them, maybe: the first is looked at alone.
        try {
          settle(1);
        } catch (alone) {
          if (meetsAll(alone)) throw alone;
          failed(alone);
          store.write((tx) => postponeWaiting(tx, tx.at + POSTPONE_SECONDS));
        }
      }
      return nextWaiting(store);
    },
    /** Looks for what no longer comes, and opens its alerts. When again (Unix seconds; now: there is more; null: no rule asks). */
    lookForMissing(): number | null {
      const now = unixSeconds(store.clock);
      // What is looked for is what is stored.
      if (hours.waitsAt(now)) written((tx) => hours.flush(tx));
      if (hours.waitsAt(now)) return now;
      const next = effects.missing.search(store, now);
      if (!effects.missing.isDue(now)) return next;
      try {
        written((tx) => {
          effects.missing.open(tx);
          effects.flush(tx);
        });
      } finally {
        reset();
      }
      return now;
    },
    nextMissing: () => effects.missing.nextAlone(store, unixSeconds(store.clock)),
    /** The latest report of an open alert that isn't written yet. */
    laterReport: openAlerts.laterReport,
    /** Writes what is only in memory: reports and counts. */
    finish() {
      if (openAlerts.reports() === 0 && counts.isWritten() && hours.isWritten()) return;
      try {
        store.write((tx) => {
          if (openAlerts.reports() > 0) openAlerts.writeReports(tx);
          counts.flush(tx);
          hours.finish(tx);
        });
      } catch {
        // The stop goes on: the tables lack at most a minute of reports and counts.
      }
    },
    /** The state of a project, for reading its templates. */
    project: (projectId: number) => projects.get(projectId),
    stats: () => ({ ...projects.stats(), hoursOverflowed: hours.overflowed }),
    tally,
    counts,
  };
}
