/**
 * Long turns of the event loop: while one runs, nobody is answered. Work that may take long runs under a name, so that
 * it can be told what held up the others.
 */

/** A turn is long from here, in milliseconds. */
export const LONG_TURN_MS = 5;

/** A long turn. `work`: what took most of it. */
export interface LongTurn {
  work: string;
  ms: number;
}

export interface LoopTurns {
  /** Runs `run` as a part of this turn. Work inside it counts with it. */
  during<T>(work: string, run: () => T): T;
  /** Long turns since the start by their work: how many, and their milliseconds together. */
  all(): ReadonlyMap<string, { count: number; ms: number }>;
  /** The longest turn of the last hour, to the minute; null where none was long. */
  longest(): LongTurn | null;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** Works that are told apart. Any further one is called `other`. */
const MOST_WORKS = 500;

/** `mono`: monotonic milliseconds. `atEnd` calls back at the end of the turn that runs now. */
export function createTurns(mono: () => number, atEnd: (close: () => void) => void): LoopTurns {
  const sums = new Map<string, { count: number; ms: number }>();
  const minutes: ({ minute: number } & LongTurn)[] = [];
  /** What this turn did so far, in milliseconds. */
  const parts = new Map<string, number>();
  let isInside = false;

  const close = () => {
    let work = "";
    let most = 0;
    let ms = 0;
    for (const [name, took] of parts) {
      ms += took;
      if (took > most) [work, most] = [name, took];
    }
    parts.clear();
    if (ms >= LONG_TURN_MS) keep({ work, ms });
  };

  const keep = ({ work: named, ms }: LongTurn) => {
    const work = sums.has(named) || sums.size < MOST_WORKS ? named : "other";
    const sum = sums.get(work) ?? { count: 0, ms: 0 };
    sums.set(work, { count: sum.count + 1, ms: sum.ms + ms });
    const minute = Math.floor(mono() / MINUTE_MS);
    const last = minutes.at(-1);
    if (last?.minute !== minute) minutes.push({ minute, work, ms });
    else if (last.ms < ms) Object.assign(last, { work, ms });
    while ((minutes[0]?.minute ?? minute) <= minute - MINUTES) minutes.shift();
  };

  return {
    during(work, run) {
      if (isInside) return run();
      isInside = true;
      const began = mono();
      try {
        return run();
      } finally {
        isInside = false;
        if (parts.size === 0) atEnd(close);
        parts.set(work, (parts.get(work) ?? 0) + mono() - began);
      }
    },
    all: () => sums,
    longest() {
      const since = Math.floor(mono() / MINUTE_MS) - MINUTES;
      const lately = minutes.filter(({ minute }) => minute > since);
      const [first] = lately.toSorted((a, b) => b.ms - a.ms);
      return first === undefined ? null : { work: first.work, ms: first.ms };
    },
  };
}

/** Those of this process: it has one event loop, whatever it serves. */
export const turns: LoopTurns = createTurns(
  () => performance.now(),
  (close) => void setImmediate(close),
);
