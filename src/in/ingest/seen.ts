import { LRUCache } from "lru-cache";
import { atMost } from "../../ground/kit/at-most.ts";

/** Ids of accepted events, so that an event that a sender repeats isn't counted twice. */
export type SeenIds = ReturnType<typeof createSeenIds>;

/** Ids that are remembered over all sources; above it the one that was seen longest ago is dropped. */
const MOST = 10_000;
const MOST_CHARACTERS = 512;

export function createSeenIds() {
  const ids = new LRUCache<string, true>(atMost(MOST));
  const keyOf = (sourceId: number, id: string) => `${sourceId} ${id.slice(0, MOST_CHARACTERS)}`;
  return {
    has: (sourceId: number, id: string | null) =>
      id !== null && id !== "" && ids.has(keyOf(sourceId, id)),
    /** Does nothing for null. */
    add(sourceId: number, id: string | null) {
      if (id !== null && id !== "") ids.set(keyOf(sourceId, id), true);
    },
  };
}
