import type { Clock } from "../ground/kit/clock.ts";

/** What changed since a reader last asked: names, never content. */
export interface ChangesPage {
  /** What to ask for next. */
  next: string;
  /** Too much is missed, or the box started anew: everything is to be read once. */
  reset: boolean;
  topics: string[];
}

export interface TellingPace {
  /** Milliseconds after the first change in which others join it. */
  joinMs: number;
  /** Milliseconds between two tellings. */
  restMs: number;
}

export interface ChangesWanted {
  /** The contract's where absent. */
  pace?: TellingPace | undefined;
  /** Which names it is for: nothing else wakes it. All of them where absent. */
  wakes?: ((topic: string) => boolean) | undefined;
}

/** As the contract has it for whoever asks what changed. */
const READERS: TellingPace = { joinMs: 100, restMs: 500 };
/** For pages, which ask twice a second at most by themselves: what they are told they may show at once. */
export const PAGES: TellingPace = { joinMs: 20, restMs: 100 };
/** What changed is compared with what listeners are for once in so many milliseconds at most. */
const LOOK_MS = 50;

interface Listener {
  pace: TellingPace;
  wakes(topic: string): boolean;
  hears(over: boolean): void;
  toldAt: number;
  /** When it is told that there is more; null: nothing concerns it. */
  dueAt: number | null;
}

export interface ChangeListeners {
  /** `hears` gets true when it is over. The returned function lets it go; whether it was still there. */
  add(hears: (over: boolean) => void, how: ChangesWanted): () => boolean;
  /** Something changed. */
  news(): void;
  readonly size: number;
  stop(): void;
}

/** Who is told that there is more, and when: one timer for all of them, and none while there are none. */
export function createChangeListeners(
  clock: Clock,
  after: (since: string | null) => ChangesPage,
): ChangeListeners {
  const all = new Set<Listener>();
  /** Up to where the names were compared, and when. */
  const looked = { to: "", at: Number.NEGATIVE_INFINITY };
  /** Since when there are names that weren't. */
  let newsAt: number | null = null;
  let timer: { at: number; cancel(): void } | null = null;

  const lookAt = () =>
    newsAt === null
      ? Number.POSITIVE_INFINITY
      : Math.max(newsAt + PAGES.joinMs, looked.at + LOOK_MS);
  /** Whom what is new concerns. */
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
  /** Until the first thing is due. */
  const wait = () => {
    let at = lookAt();
    for (const { dueAt } of all) if (dueAt !== null && dueAt < at) at = dueAt;
    if (at === Number.POSITIVE_INFINITY || (timer !== null && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: clock.after(Math.max(0, at - clock.mono()), tick) };
  };

  return {
    add(hears, { pace = READERS, wakes = () => true }) {
      // What was before is nothing new to the first.
      if (all.size === 0) looked.to = after(null).next;
      const own = { hears, pace, wakes, toldAt: Number.NEGATIVE_INFINITY, dueAt: null };
      all.add(own);
      return () => all.delete(own);
    },
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
