import * as z from "zod";
import type { Clock } from "../ground/kit/clock.ts";

/** The names of the things that changed since a reader last asked, without their content. */
export const changesPage = z.object({
  next: z.string(),
  reset: z.boolean().meta({ description: "Read everything once: what changed isn't known." }),
  topics: z.array(z.string()),
});
export type ChangesPage = z.output<typeof changesPage>;

export interface TellingPace {
  /** Milliseconds for which further changes are collected after the first one. */
  joinMs: number;
  /** The shortest time between two notifications, in milliseconds. */
  restMs: number;
}

export interface ChangesWanted {
  /** Default: as the contract says. */
  pace?: TellingPace | undefined;
  /** The names for which the listener is called. Default: all. */
  wakes?: ((topic: string) => boolean) | undefined;
}

/** For readers of the API, as the contract says. */
const READERS: TellingPace = { joinMs: 100, restMs: 500 };
/** For web pages, which ask at most twice a second: what they get may be shown at once. */
export const PAGES: TellingPace = { joinMs: 20, restMs: 100 };
/** Listeners' names are compared with the changes once in so many milliseconds at most. */
const LOOK_MS = 50;

interface Listener {
  pace: TellingPace;
  wakes(topic: string): boolean;
  hears(over: boolean): void;
  toldAt: number;
  /** Monotonic time of the next call; null: nothing for this listener changed. */
  dueAt: number | null;
}

/** Decides which listeners are called, and when. One timer for all of them; none while there are none. */
export function createChangeListeners(clock: Clock, after: (since: string | null) => ChangesPage) {
  const all = new Set<Listener>();
  /** The last change that was compared, and when. */
  const looked = { to: "", at: Number.NEGATIVE_INFINITY };
  /** Monotonic time of the first change that wasn't compared; null: none. */
  let newsAt: number | null = null;
  let timer: { at: number; cancel(): void } | null = null;

  const lookAt = () =>
    newsAt === null
      ? Number.POSITIVE_INFINITY
      : Math.max(newsAt + PAGES.joinMs, looked.at + LOOK_MS);
  /** Finds the listeners of the new changes. */
  const look = (since: number) => {
    const { next, reset, topics } = after(looked.to);
    Object.assign(looked, { to: next, at: clock.mono() });
    newsAt = null;
    for (const one of all)
      if (one.dueAt === null && (reset || topics.some((topic) => one.wakes(topic))))
        one.dueAt = Math.max(since + one.pace.joinMs, one.toldAt + one.pace.restMs);
  };
  const tick = () => {
    timer = null;
    const now = clock.mono();
    if (newsAt !== null && lookAt() <= now) look(newsAt);
    for (const one of [...all]) {
      if (one.dueAt === null || one.dueAt > now) continue;
      Object.assign(one, { dueAt: null, toldAt: now });
      one.hears(false);
    }
    wait();
  };
  /** Sets the timer for the first thing that is due. */
  const wait = () => {
    let at = lookAt();
    for (const { dueAt } of all) if (dueAt !== null && dueAt < at) at = dueAt;
    if (at === Number.POSITIVE_INFINITY || (timer !== null && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: clock.after(Math.max(0, at - clock.mono()), tick) };
  };

  return {
    /**
     * Adds a listener. `hears` gets true when there will be no more calls. The returned function removes the listener,
     * and returns whether it was still there.
     */
    add(
      hears: (over: boolean) => void,
      { pace = READERS, wakes = () => true }: ChangesWanted,
    ): () => boolean {
      // Earlier changes aren't new for the first listener.
      if (all.size === 0) looked.to = after(null).next;
      const own = { hears, pace, wakes, toldAt: Number.NEGATIVE_INFINITY, dueAt: null };
      all.add(own);
      return () => all.delete(own);
    },
    /** Something changed. */
    news() {
      if (newsAt !== null || all.size === 0) return;
      newsAt = clock.mono();
      wait();
    },
    get size() {
      return all.size;
    },
    stop() {
      timer?.cancel();
      timer = null;
      for (const { hears } of [...all]) hears(true);
      all.clear();
    },
  };
}
