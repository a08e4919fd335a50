import type { Source } from "../projects/sources.ts";

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
  /** When the latest was committed, in Unix seconds. */
  seenAt: number;
}

/** Counts in memory, one entry for each source that sent something; only what was committed is counted. */
export interface Tally {
  /** The first `committed` events of a batch, at `at`, and those of them, one source for each, that came to nothing. */
  add(batch: readonly { source: Source }[], committed: number, how: Nothing & { at: number }): void;
  all(): SourceTally[];
  /** Keeps only sources that there still are. */
  prune(isLive: (sourceId: number) => boolean): void;
}

export interface Nothing {
  /** No rule took it. */
  unmatched: readonly Source[];
  /** The end of an alert that wasn't known. */
  unmatchedResolves: readonly Source[];
}

export function createTally(): Tally {
  const bySource = new Map<number, SourceTally>();
  const of = ({ id, projectId, name }: Source): SourceTally => {
    let tally = bySource.get(id);
    if (tally === undefined) {
      tally = {
        sourceId: id,
        projectId,
        source: name,
        accepted: 0,
        unmatched: 0,
        unmatchedResolves: 0,
        seenAt: 0,
      };
      bySource.set(id, tally);
    }
    return tally;
  };
  return {
    add(batch, committed, { unmatched, unmatchedResolves, at }) {
      for (const { source } of batch.slice(0, committed)) {
        const tally = of(source);
        tally.accepted++;
        tally.seenAt = at;
      }
      for (const source of unmatched) of(source).unmatched++;
      for (const source of unmatchedResolves) of(source).unmatchedResolves++;
    },
    all: () => [...bySource.values()].map((tally) => ({ ...tally })),
    prune(isLive) {
      for (const id of bySource.keys()) if (!isLive(id)) bySource.delete(id);
    },
  };
}
