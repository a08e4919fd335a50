import { LRUCache } from "lru-cache";
import type { Source } from "../../core/projects/sources.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { ErrorCode } from "../../ground/kit/errors.ts";
import { cut } from "../../ground/kit/text.ts";

/** Why events of a source were refused, and the body that they came in. */
export interface Refusal {
  code: ErrorCode;
  /** The sentence that the sender was answered. */
  message: string;
  /** Empty where it was not read. */
  body: string;
}

export interface LastRefusal extends Refusal {
  /** Unix seconds. */
  at: number;
}

/** What was refused since the start, by source, in memory. */
export interface RefusedBook {
  note(source: Source, refusal: Refusal, events?: number): void;
  /** Events by code, and the latest within the hour; its body is cut to 1,024 characters. */
  of(sourceId: number): { counts: Readonly<Record<string, number>>; last: LastRefusal | null };
  all(): { projectId: number; source: string; counts: Readonly<Record<string, number>> }[];
  /** Keeps only sources that there still are. */
  prune(isLive: (sourceId: number) => boolean): void;
}

interface Entry {
  projectId: number;
  source: string;
  counts: Record<string, number>;
}

const MOST_CHARACTERS = 1024;
/** Sources whose latest refused body is kept, the longest silent one making room. */
const MOST_BODIES = 1000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export function createRefusedBook(clock: Clock): RefusedBook {
  const entries = new Map<number, Entry>();
  const latest = new LRUCache<number, LastRefusal>({
    max: MOST_BODIES,
    ttl: HOUR_MS,
    ttlResolution: 0,
    // A time of 0 means to it that there is none.
    perf: { now: () => clock.mono() + 1 },
  });
  let forgotAt = clock.mono();
  /** Looking at them all for each of a flood of refusals would cost more than the refusals. */
  const forgetOld = () => {
    if (clock.mono() - forgotAt < MINUTE_MS) return;
    forgotAt = clock.mono();
    latest.purgeStale();
  };
  return {
    note({ id, projectId, name }, { code, message, body }, events = 1) {
      let entry = entries.get(id);
      if (entry === undefined) {
        entry = { projectId, source: name, counts: {} };
        entries.set(id, entry);
      }
      // It may have another name by now.
      entry.source = name;
      entry.counts[code] = (entry.counts[code] ?? 0) + events;
      forgetOld();
      latest.set(id, { code, message, at: unixSeconds(clock), body: beginningOf(body) });
    },
    of(sourceId) {
      forgetOld();
      return {
        counts: { ...entries.get(sourceId)?.counts },
        last: latest.get(sourceId) ?? null,
      };
    },
    all: () => [...entries.values()],
    prune(isLive) {
      for (const id of entries.keys())
        if (!isLive(id)) {
          entries.delete(id);
          latest.delete(id);
        }
    },
  };
}

/** A copy: a slice of a string holds the whole of it, which may be megabytes. */
function beginningOf(body: string): string {
  return Buffer.from(cut(body, MOST_CHARACTERS)).toString();
}
