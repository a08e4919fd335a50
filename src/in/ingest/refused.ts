import { LRUCache } from "lru-cache";
import type { Source } from "../../core/projects/sources.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { ErrorCode } from "../../ground/kit/errors.ts";
import { cut } from "../../ground/kit/text.ts";

/** Why events of a source were refused, and their body. */
interface Refusal {
  code: ErrorCode;
  /** The sentence in the answer to the sender. */
  message: string;
  /** Empty where it was not read. */
  body: string;
}

interface LastRefusal extends Refusal {
  at: number;
}

/** Refused events since the start, by source, in memory. */
export type RefusedBook = ReturnType<typeof createRefusedBook>;

interface Entry {
  projectId: number;
  source: string;
  counts: Record<string, number>;
}

const MOST_CHARACTERS = 1024;
/** Sources whose latest refused body is kept; above it the one that was silent longest is dropped. */
const MOST_BODIES = 1000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export function createRefusedBook(clock: Clock) {
  const entries = new Map<number, Entry>();
  const latest = new LRUCache<number, LastRefusal>({
    max: MOST_BODIES,
    ttl: HOUR_MS,
    ttlResolution: 0,
    // The library takes a time of 0 as missing.
    perf: { now: () => clock.mono() + 1 },
  });
  let forgotAt = clock.mono();
  /** At most once a minute: during a flood of refusals it would cost more than they do. */
  const forgetOld = () => {
    if (clock.mono() - forgotAt < MINUTE_MS) return;
    forgotAt = clock.mono();
    latest.purgeStale();
  };
  return {
    note({ id, projectId, name }: Source, { code, message, body }: Refusal, events: number = 1) {
      let entry = entries.get(id);
      if (entry === undefined) {
        entry = { projectId, source: name, counts: {} };
        entries.set(id, entry);
      }
      // The source may have been renamed.
      entry.source = name;
      entry.counts[code] = (entry.counts[code] ?? 0) + events;
      forgetOld();
      latest.set(id, { code, message, at: unixSeconds(clock), body: beginningOf(body) });
    },
    /** Events by error code, and the latest refusal within the hour; its body is cut to 1,024 characters. */
    of(sourceId: number): { counts: Readonly<Record<string, number>>; last: LastRefusal | null } {
      forgetOld();
      return {
        counts: { ...entries.get(sourceId)?.counts },
        last: latest.get(sourceId) ?? null,
      };
    },
    all: () => [...entries.values()],
    /** Keeps only existing sources. */
    prune(isLive: (sourceId: number) => boolean) {
      for (const id of entries.keys())
        if (!isLive(id)) {
          entries.delete(id);
          latest.delete(id);
        }
    },
  };
}

/** A copy: a slice of a string keeps the whole string, which can be megabytes. */
function beginningOf(body: string): string {
  return Buffer.from(cut(body, MOST_CHARACTERS)).toString();
}
