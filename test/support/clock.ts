import { type Clock, sleep, systemClock, timerDelay } from "../../src/ground/kit/clock.ts";

/** A clock that stands still until it is turned. */
export interface HandClock extends Clock {
  /** Moves both clocks on by `ms`, running each timer at its own moment and letting promises settle. */
  turn(ms: number): Promise<void>;
  /** Sets the wall clock without any time passing, as an operator or NTP does. */
  setWall(ms: number): void;
  /** How many timers are set. */
  timers(): number;
}

/** Starts at `wall` (milliseconds; default 2026-01-05T09:00:00Z, a Monday). */
export function handClock(wall = Date.UTC(2026, 0, 5, 9)): HandClock {
  const timers = new Map<number, { at: number; fn: () => void }>();
  let offset = wall;
  let mono = 0;
  let last = 0;

  const nextDue = (until: number) => {
    let first: [number, { at: number; fn: () => void }] | undefined;
    for (const entry of timers) {
      if (entry[1].at <= until && (first === undefined || entry[1].at < first[1].at)) first = entry;
    }
    return first;
  };

  return {
    now: () => offset + mono,
    mono: () => mono,
    after(ms, fn) {
      const id = ++last;
      timers.set(id, { at: mono + timerDelay(ms), fn });
      return () => timers.delete(id);
    },
    async turn(ms) {
      const until = mono + ms;
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        timers.delete(due[0]);
        mono = Math.max(mono, due[1].at);
        due[1].fn();
        await settled();
      }
      mono = until;
      await settled();
    },
    setWall(ms) {
      offset = ms - mono;
    },
    timers: () => timers.size,
  };
}

/** After so long, milliseconds, what waits for a real database or socket may wait for a clock that nobody turns. */
const SLOW_MS = 5_000;

/**
 * `work` that asks somebody else, who may be so slow on a busy machine that it is asked again: after a wait by this clock.
 * From then on the clock goes as the machine's until the work is over.
 */
export async function turnedWhereSlow<T>(clock: HandClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
  const turn = async () => {
    if (isOver) return;
    await clock.turn(100);
    timer = setTimeout(turn, 100);
  };
  let timer = setTimeout(turn, SLOW_MS);
  return await done;
}

/** Lets every promise that can settle without input or output do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The machine's own clock, for what must be measured: turning it waits. */
export function realClock(): HandClock {
  return {
    ...systemClock,
    turn: (ms) => sleep(systemClock, ms),
    setWall() {
      throw new Error("a real clock can't be set");
    },
    timers: () => 0,
  };
}
