import type { Clock } from "../ground/kit/clock.ts";
import { hexId } from "../ground/kit/ids.ts";
import type { Note, Store } from "../ground/store/store.ts";
import { type ChangesPage, type ChangesWanted, createChangeListeners } from "./change-listeners.ts";
import { topicsOf } from "./topics.ts";
import type { WaiterLimits } from "./waiters.ts";

/** Tells readers which things changed, after the commit (contract §30). */
export type Changes = ReturnType<typeof createChanges>;

/** Changes that are remembered, and names in each. */
const MOST_KEPT = 1024;
const MOST_NAMES = 64;

/** Keeps the changes in memory only. Without listeners a commit costs a few names in a set, and no timer. */
export function createChanges(store: Store, clock: Clock, limits: WaiterLimits) {
  const boot = hexId(store.random).slice(0, 8);
  const ring: string[][] = [];
  const byKey = new Map<string, number>();
  let pending = new Set<string>();
  let last = 0;
  let isOver = false;
  let eventWatchers = 0;

  const keep = () => {
    if (pending.size === 0) return;
    ring.push([...pending]);
    if (ring.length > MOST_KEPT) ring.shift();
    pending = new Set();
    last++;
  };
  /** The changes after `since`. Where it is missing or unknown, everything may have changed. */
  const after = (since: string | null): ChangesPage => {
    keep();
    const next = `${boot}-${last}`;
    const [of = "", at = ""] = since?.split("-") ?? [];
    const from = /^[0-9]{1,15}$/.test(at) ? Number(at) : -1;
    const isKnown = of === boot && from <= last && from >= last - ring.length;
    if (!isKnown) return { next, reset: true, topics: [] };
    const missed = from === last ? [] : ring.slice(from - last);
    return { next, reset: false, topics: [...new Set(missed.flat())] };
  };
  const listeners = createChangeListeners(clock, after);

  const told = (notes: readonly Note[]) => {
    let isNews = false;
    for (const note of notes)
      for (const topic of topicsOf(store, note)) {
        isNews = true;
        pending.add(topic);
        if (pending.size >= MOST_NAMES) keep();
      }
    if (isNews) listeners.news();
  };

  return {
    after,
    /**
     * Calls `hears` soon after a commit that may concern it, as often as its pace allows; with true when the tenant
     * stops. null where there are too many listeners.
     */
    listen(
      key: string,
      hears: (over: boolean) => void,
      how: ChangesWanted = {},
    ): (() => void) | null {
      const held = byKey.get(key) ?? 0;
      if (isOver || held >= limits.perKey || listeners.size >= limits.all) return null;
      byKey.set(key, held + 1);
      const remove = listeners.add(hears, how);
      return () => {
        if (!remove()) return;
        const left = (byKey.get(key) ?? 1) - 1;
        if (left > 0) byKey.set(key, left);
        else byKey.delete(key);
      };
    },
    told,
    /** Changes also name the sources that get events, until the returned function is called. */
    watchEvents(): () => void {
      eventWatchers++;
      let isWatching = true;
      return () => {
        if (isWatching) eventWatchers--;
        isWatching = false;
      };
    },
    /** Events were accepted. Costs nothing while nobody watches them. */
    taken(batch: readonly { source: { id: number; projectId: number; name: string } }[]) {
      if (eventWatchers === 0) return;
      const sources = new Map(batch.map(({ source }) => [source.id, source]));
      told(
        [...sources.values()].map(({ projectId, name: source }) => ({
          topic: "heard",
          projectId,
          source,
        })),
      );
    },
    get listening() {
      return listeners.size;
    },
    /** Ends all listeners. */
    stop() {
      isOver = true;
      listeners.stop();
    },
  };
}
