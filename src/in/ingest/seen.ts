import { LRUCache } from "lru-cache";
import { atMost } from "../../ground/kit/at-most.ts";

/** Ids of events that were taken, so that what a sender sends again is not counted again. */
export interface SeenIds {
  has(sourceId: number, id: string | null): boolean;
  /** Of no meaning for null. */
  add(sourceId: number, id: string | null): void;
}

/** Ids that are remembered over all sources, the longest unheard of making room. */
const MOST = 10_000;
const MOST_CHARACTERS = 512;

export function createSeenIds(): SeenIds {
  const ids = new LRUCache<string, true>(atMost(MOST));
  const keyOf = (sourceId: number, id: string) => `${sourceId} ${id.slice(0, MOST_CHARACTERS)}`;
  return {
    has: (sourceId, id) => id !== null && id !== "" && ids.has(keyOf(sourceId, id)),
    add(sourceId, id) {
      if (id !== null && id !== "") ids.set(keyOf(sourceId, id), true);
    },
  };
}
