import type { LaterReport } from "../../core/alerts/fold.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { createEffects } from "./effects.ts";
import { createLineWriter } from "./lines.ts";
import { createOpenAlerts } from "./open-alerts.ts";
import { createProjectStates, type ProjectState } from "./project-state.ts";
import { createTally, type Tally } from "./tally.ts";
import type { Mined } from "./template/miner.ts";
import { createTemplateCounts, type TemplateCounts } from "./template-counts.ts";
import { createUnresolved } from "./unresolved.ts";
import { createWindows } from "./windows.ts";

export interface WriterLimits {
  /** Rows of one transaction: past it no further request's events are begun. */
  rows: number;
  /** Templates a project. */
  templates: number;
  /** Templates in memory, of all projects; a project that is let go is read back when it is needed. */
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

/** Rules whose unresolved alerts are counted in memory; those of others are counted anew. */
const RULES = 100_000;

export interface Writer {
  /**
   * Processes a batch in one transaction, committed before this returns. Where its alerts make too many rows
   * it ends early, with the answers of the whole requests that it came to; the rest is the caller's to send
   * again. Throws with everything undone, memory too.
   */
  process(batch: readonly Arrival[]): IngestAnswer[];
  /** The latest report of an open alert, where that isn't written yet. */
  laterReport(alert: { id: number; alert_key: string }): LaterReport | null;
  /** Writes those reports. */
  finish(): void;
  /** What memory knows of the projects, for reads of templates. */
  project(projectId: number): ProjectState;
  stats(): { templates: number; overflowed: number };
  readonly tally: Tally;
  readonly counts: TemplateCounts;
}

/**
 * The hot path: template, line, rules, fold or open, for a whole batch in one transaction. Memory
 * follows the commit: after a rollback all of it is dropped and read back when next needed.
 */
export function createWriter(store: Store, limits: WriterLimits): Writer {
  const projects = createProjectStates(store, limits);
  const openAlerts = createOpenAlerts(limits.openAlerts);
  const windows = createWindows({ keys: limits.windowKeys, hits: limits.windowHits });
  const lines = createLineWriter();
  const unresolved = createUnresolved(RULES);
  const effects = createEffects({ projects, openAlerts, windows, unresolved });
  const tally = createTally();
  const counts = createTemplateCounts();

  store.onCommit((notes) => {
    for (const note of notes) {
      unresolved.committed(note);
      if (note.topic === "alert" && !note.opened) openAlerts.forget(note.alertKey);
      if (note.topic === "clock") {
        openAlerts.shift(note.by);
        windows.clear();
      }
      // One may be called otherwise.
      if (note.topic === "sources") openAlerts.clear();
      if (note.topic === "config") projects.reloadRules(note.projectId);
      if (note.topic === "project-deleted") {
        projects.forget(note.projectId);
        counts.forget(note.projectId);
        openAlerts.clear();
        unresolved.clear();
      }
      if (note.topic === "config" || note.topic === "project-deleted") windows.clear();
    }
  });

  /** What the batch does to alerts counts within it. */
  const watched = (tx: Tx): Tx => ({
    ...tx,
    note(note) {
      unresolved.saw(note);
      tx.note(note);
    },
  });

  const mineAll = (tx: Tx, batch: readonly Arrival[]): Mined[] => {
    const mined = batch.map(({ source, event }) =>
      projects.get(source.projectId).miner.mine(event.message),
    );
    for (const projectId of new Set(batch.map(({ source }) => source.projectId))) {
      if (projects.writeTemplates(tx, projectId)) {
        openAlerts.clear();
        windows.clear();
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
      const { answer, isRepeat } = effects.of(tx, arrival, template);
      counts.add(tx, arrival, template.id);
      if (source.retainLogs && !isRepeat)
        lines.add({ source, at: tx.at, templateId: template.id, event });
      answers.push(answer);
      full ||= effects.rowsTaken(tx) > limits.rows;
      if (full && !arrival.more) break;
    }
    lines.flush(tx);
    effects.flush(tx);
    return answers;
  };

  return {
    process(batch) {
      try {
        const answers = store.write((tx) => run(watched(tx), batch), { expendable: true });
        projects.trim();
        const at = unixSeconds(store.clock);
        tally.add(batch, answers.length, { ...effects.nothing, at });
        return answers;
      } catch (error) {
        projects.clear();
        openAlerts.clear();
        windows.clear();
        lines.clear();
        counts.clear();
        effects.undo();
        throw error;
      } finally {
        effects.reset();
        unresolved.reset();
      }
    },
    laterReport: openAlerts.laterReport,
    finish() {
      if (openAlerts.reports() === 0 && counts.isWritten()) return;
      try {
        store.write((tx) => {
          if (openAlerts.reports() > 0) openAlerts.writeReports(tx);
          counts.flush(tx);
        });
      } catch {
        // A stop goes on: the tables have each report and count of a minute ago.
      }
    },
    project: (projectId) => projects.get(projectId),
    stats: () => projects.stats(),
    tally,
    counts,
  };
}
