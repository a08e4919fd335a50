import { LRUCache } from "lru-cache";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { cut } from "../../ground/kit/text.ts";

/** A received request, for a person who writes a mapping. */
interface ReceivedBody {
  at: number;
  contentType: string;
  /** Its first 16,384 characters. */
  body: string;
}

/** The latest bodies of sources whose format a person maps, in memory. */
export type ReceivedBook = ReturnType<typeof createReceivedBook>;

const MOST_EACH = 20;
const MOST_BODY = 16_384;
/** Characters over all sources; above it the source that was silent longest is dropped. */
const MOST_CHARACTERS = 4_000_000;

export function createReceivedBook(clock: Clock) {
  const bySource = new LRUCache<number, readonly ReceivedBody[]>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (bodies) => bodies.reduce((sum, { body }) => sum + body.length + 200, 1),
  });
  return {
    note(sourceId: number, { contentType, body }: { contentType: string; body: string }) {
      // Copies: a slice of a string keeps the whole string, which can be megabytes.
      const copy = (text: string, most: number) => Buffer.from(cut(text, most)).toString();
      const latest = {
        at: unixSeconds(clock),
        contentType: copy(contentType, 200),
        body: copy(body, MOST_BODY),
      };
      const known = bySource.get(sourceId) ?? [];
      bySource.set(sourceId, [latest, ...known.slice(0, MOST_EACH - 1)]);
    },
    /** At most 20, latest first. */
    of: (sourceId: number) => bySource.get(sourceId) ?? [],
    /** Keeps only existing sources. */
    prune(isLive: (sourceId: number) => boolean) {
      for (const id of bySource.keys()) if (!isLive(id)) bySource.delete(id);
    },
  };
}
