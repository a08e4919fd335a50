import type { Source } from "../../core/projects/sources.ts";
import type { Arrival } from "./arrival.ts";
import { createMinutes, type Minutes } from "./minutes.ts";

/** What one source's events came to since the start. */
export interface SourceTally {
  sourceId: number;
  projectId: number;
  /** The source's name. */
  source: string;
  /** Events committed. */
  accepted: number;
  /** Of those, events that no rule of the project matched: they can open nothing. */
  unmatched: number;
  /** Ends of alerts that weren't known, or had no name. */
  unmatchedResolves: number;
  /** Ends of alerts that were never heard of, a short while after their beginning. */
  clockSuspects: number;
  /** Events that say that a named alert fires. */
  fired: number;
  /** When the latest was committed, in Unix seconds. */
  seenAt: number;
}

/** A source's events of the last hour by the minute, the present one last. */
export interface SourceHour {
  sourceId: number;
  /** Unix seconds. */
  seenAt: number;
  minutes: number[];
}

/** Counts in memory, one entry for each source that sent something; only what was committed is counted. */
export interface Tally {
  /** The first `committed` events of a batch, at `at`, and those of them, one source for each, that came to nothing. */
  add(
    batch: readonly Pick<Arrival, "source" | "event">[],
    committed: number,
    how: Nothing & { at: number },
  ): void;
  all(): SourceTally[];
  /** The hour that ends at `at`. */
  hours(at: number): SourceHour[];
  /** Keeps only sources that there still are. */
  prune(isLive: (sourceId: number) => boolean): void;
}

export interface Nothing {
  /** No rule took it. */
  unmatched: readonly Source[];
  /** The end of an alert that wasn't known. */
  unmatchedResolves: readonly Source[];
  /** The end of an alert that was never known, and began a short while ago. */
  clockSuspects: readonly Source[];
}

export function createTally(): Tally {
  const bySource = new Map<number, SourceTally & { heard: Minutes }>();
  const of = ({ id, projectId, name }: Source) => {
    let tally = bySource.get(id);
    if (tally === undefined) {
      tally = {
        sourceId: id,
        projectId,
        source: name,
        accepted: 0,
        unmatched: 0,
        unmatchedResolves: 0,
        clockSuspects: 0,
        fired: 0,
        seenAt: 0,
        heard: createMinutes(),
      };
      bySource.set(id, tally);
    }
    // It may have another name by now.
    tally.source = name;
    return tally;
  };
  return {
    add(batch, committed, { unmatched, unmatchedResolves, clockSuspects, at }) {
      for (const { source, event } of batch.slice(0, committed)) {
        const tally = of(source);
        tally.accepted++;
        tally.seenAt = at;
        tally.heard.add(at, 1);
        if (event.named?.action === "fire") tally.fired++;
      }
      for (const source of unmatched) of(source).unmatched++;
      for (const source of unmatchedResolves) of(source).unmatchedResolves++;
      for (const source of clockSuspects) of(source).clockSuspects++;
    },
    all: () => [...bySource.values()].map(({ heard: _, ...tally }) => tally),
    hours: (at) =>
      [...bySource.values()].map(({ sourceId, seenAt, heard }) => ({
        sourceId,
        seenAt,
        minutes: heard.until(at),
      })),
    prune(isLive) {
      for (const id of bySource.keys()) if (!isLive(id)) bySource.delete(id);
    },
  };
}
