import type { Clock } from "./clock.ts";

/**
 * A clock whose wall time doesn't jump by itself. While the machine's wall clock has left the line that
 * the monotonic clock draws, `now` stays on that line, until `adopt` is called: so that whoever
 * must move due times with the jump can do it before anything else sees the new time.
 */
export interface SteadyClock extends Clock {
  /** How far the machine's wall clock has left the line, in milliseconds; 0 within the tolerance. */
  jump(): number;
  /** Goes on from the machine's wall clock. */
  adopt(): void;
}

/** What slewing and rounding may amount to between two looks (contract §10). */
export const JUMP_MS = 2000;

export function steadyClock(machine: Clock): SteadyClock {
  let wall = machine.now();
  let mono = machine.mono();

  // Whole milliseconds, like the machine's: what is stored of it goes into integer columns.
  const line = () => Math.round(wall + (machine.mono() - mono));
  const off = () => {
    const by = machine.now() - line();
    return Math.abs(by) > JUMP_MS ? by : 0;
  };
  const anchor = () => {
    wall = machine.now();
    mono = machine.mono();
  };

  return {
    now: () => (off() === 0 ? machine.now() : line()),
    mono: () => machine.mono(),
    after: (ms, fn) => machine.after(ms, fn),
    jump() {
      const by = off();
      // Small differences are followed, or they would add up to a jump that never was one.
      if (by === 0) anchor();
      return by;
    },
    adopt: anchor,
  };
}
