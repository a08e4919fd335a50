import type { Clock } from "../kit/clock.ts";
import { hexId } from "../kit/ids.ts";
import type { Note, Store } from "../store/store.ts";
import { topicsOf } from "./topics.ts";

/** What changed since a reader last asked: names, never content. */
export interface ChangesPage {
  /** What to ask for next. */
  next: string;
  /** Too much is missed, or the box started anew: everything is to be read once. */
  reset: boolean;
  topics: string[];
}

/** Tells readers which things changed, once they are committed (contract §30). */
export interface Changes {
  /** What came after `since`; without one, or for one that isn't known, everything may have. */
  after(since: string | null): ChangesPage;
  /**
   * Calls `listener` when there is more, soon after the commit and at most twice a second while much changes; with true
   * when the tenant stops. null where too many listen already.
   */
  listen(key: string, listener: (over: boolean) => void): (() => void) | null;
  told(notes: readonly Note[]): void;
  /** Somebody looks at what events come, until the returned function is called. */
  watchEvents(): () => void;
  /** Events that were taken: it costs a batch nothing while nobody looks. */
  taken(batch: readonly { source: { id: number; projectId: number; name: string } }[]): void;
  readonly listening: number;
  /** Every listener is told that it is over; nobody listens any more. */
  stop(): void;
}

/** What is remembered for readers who come back, and names in one piece of it. */
const MOST_KEPT = 1024;
const MOST_NAMES = 64;
/** Milliseconds after the first change in which others join it; and between two tellings. */
const JOIN_MS = 100;
const REST_MS = 500;

export interface ChangesLimits {
  /** Listeners of one key. */
  perKey: number;
  all: number;
}

/** Keeps what changed in memory alone. Without listeners it costs a commit a few names in a set, and no timer. */
export function createChanges(store: Store, clock: Clock, limits: ChangesLimits): Changes {
  const boot = hexId(store.random).slice(0, 8);
  const ring: string[][] = [];
  const listeners = new Map<(over: boolean) => void, string>();
  const byKey = new Map<string, number>();
  let pending = new Set<string>();
  let last = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  let isOver = false;
  let eventWatchers = 0;

  const keep = () => {
    if (pending.size === 0) return;
    ring.push([...pending]);
    if (ring.length > MOST_KEPT) ring.shift();
    pending = new Set();
    last++;
  };
  const tell = () => {
    cancel = null;
    toldAt = clock.mono();
    keep();
    for (const listener of [...listeners.keys()]) listener(false);
  };
  const tellSoon = () => {
    if (cancel !== null || listeners.size === 0 || pending.size === 0) return;
    cancel = clock.after(Math.max(JOIN_MS, toldAt + REST_MS - clock.mono()), tell);
  };

  const told = (notes: readonly Note[]) => {
    for (const note of notes)
      for (const topic of topicsOf(store, note)) {
        pending.add(topic);
        if (pending.size >= MOST_NAMES) keep();
      }
    tellSoon();
  };

  return {
    after(since) {
      keep();
      const next = `${boot}-${last}`;
      const [of = "", at = ""] = since?.split("-") ?? [];
      const from = /^[0-9]{1,15}$/.test(at) ? Number(at) : -1;
      const isKnown = of === boot && from <= last && from >= last - ring.length;
      if (!isKnown) return { next, reset: true, topics: [] };
      const missed = from === last ? [] : ring.slice(from - last);
      return { next, reset: false, topics: [...new Set(missed.flat())] };
    },
    listen(key, listener) {
      const held = byKey.get(key) ?? 0;
      if (isOver || held >= limits.perKey || listeners.size >= limits.all) return null;
      byKey.set(key, held + 1);
      listeners.set(listener, key);
      tellSoon();
      return () => {
        if (!listeners.delete(listener)) return;
        const left = (byKey.get(key) ?? 1) - 1;
        if (left > 0) byKey.set(key, left);
        else byKey.delete(key);
      };
    },
    told,
    watchEvents() {
      eventWatchers++;
      let isWatching = true;
      return () => {
        if (isWatching) eventWatchers--;
        isWatching = false;
      };
    },
    taken(batch) {
      if (eventWatchers === 0) return;
      const sources = new Map(batch.map(({ source }) => [source.id, source]));
      told(
        [...sources.values()].map(({ projectId, name: source }) => ({
          ...{ topic: "heard", projectId, source },
        })),
      );
    },
    get listening() {
      return listeners.size;
    },
    stop() {
      isOver = true;
      cancel?.();
      cancel = null;
      for (const listener of [...listeners.keys()]) listener(true);
      listeners.clear();
    },
  };
}
