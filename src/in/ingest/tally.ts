import type { Source } from "../../core/projects/sources.ts";
import type { Arrival } from "./arrival.ts";

type Minutes = ReturnType<typeof createMinutes>;

const HOUR = 60;

/** Events of the last hour by the minute, in memory. Times are Unix seconds. */
export function createMinutes() {
  const ring = new Uint32Array(HOUR);
  let newest = Number.NaN;
  const turn = (minute: number) => {
    const passed = minute - newest;
    // At the first event, and after the clock was set back, nothing of the hour is known.
    if (!(passed >= 0 && passed < HOUR)) ring.fill(0);
    else for (let at = newest + 1; at <= minute; at++) ring[at % HOUR] = 0;
    newest = minute;
  };
  return {
    add(at: number, n: number) {
      const minute = Math.floor(at / 60);
      if (minute !== newest) turn(minute);
      ring[minute % HOUR] = (ring[minute % HOUR] ?? 0) + n;
    },
    /** Sixty counts that end with the minute of `at`. */
    until(at: number): number[] {
      const minute = Math.floor(at / 60);
      return Array.from({ length: HOUR }, (_, i) => {
        const wanted = minute - HOUR + 1 + i;
        const isKept = wanted <= newest && wanted > newest - HOUR;
        return isKept ? (ring[wanted % HOUR] ?? 0) : 0;
      });
    },
  };
}

/** Counts of one source's events since the start. */
export interface SourceTally {
  sourceId: number;
  projectId: number;
  source: string;
  /** Events committed. */
  accepted: number;
  /** Of those, events that no rule of the project matched: they can open nothing. */
  unmatched: number;
  /** Ends of alerts that weren't known, or had no name. */
  unmatchedResolves: number;
  /** Ends of unknown alerts that had begun a short while before. */
  clockSuspects: number;
  /** Events that report a named alert as firing. */
  fired: number;
  /** When the latest was committed, in Unix seconds. */
  seenAt: number;
}

export interface Nothing {
  /** No rule matched it. */
  unmatched: readonly Source[];
  /** The end of an unknown alert. */
  unmatchedResolves: readonly Source[];
  /** The end of an unknown alert that began a short while before. */
  clockSuspects: readonly Source[];
}

/** Counts of committed events in memory, one entry for each source that sent something. */
export function createTally() {
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
    // The source may have been renamed.
    tally.source = name;
    return tally;
  };
  return {
    /** Adds the first `committed` events of a batch; `how` lists the sources of those without effect. */
    add(
      batch: readonly Pick<Arrival, "source" | "event">[],
      committed: number,
      { unmatched, unmatchedResolves, clockSuspects, at }: Nothing & { at: number },
    ) {
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
    /** Each source's events of the hour that ends at `at`, by the minute, the present one last. */
    hours: (at: number) =>
      [...bySource.values()].map(({ sourceId, seenAt, heard }) => ({
        sourceId,
        seenAt,
        minutes: heard.until(at),
      })),
    /** Keeps only existing sources. */
    prune(isLive: (sourceId: number) => boolean) {
      for (const id of bySource.keys()) if (!isLive(id)) bySource.delete(id);
    },
  };
}
