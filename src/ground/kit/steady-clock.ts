import type { Clock } from "./clock.ts";

/**
 * A clock whose `now` doesn't jump by itself. When the system's time jumps, `now` goes on as the monotonic clock does
 * until `adopt` is called. So due times can be moved with the jump before any other code sees the new time.
 */
export interface SteadyClock extends Clock {
  /** Milliseconds by which the system's time has jumped; 0 within the tolerance. */
  jump(): number;
  /** Takes over the system's time. */
  adopt(): void;
}

/** The most that slewing and rounding may add up to between two checks (contract §10). */
const JUMP_MS = 2000;

export function steadyClock(machine: Clock): SteadyClock {
  let wall = machine.now();
  let mono = machine.mono();

  // Whole milliseconds like the system's time, because it is stored in integer columns.
  const line = () => Math.round(wall + (machine.mono() - mono));
  const off = (said: number) => {
    const by = said - line();
    return Math.abs(by) > JUMP_MS ? by : 0;
  };
  const anchor = () => {
    wall = machine.now();
    mono = machine.mono();
  };

  return {
    now() {
      const said = machine.now();
      return off(said) === 0 ? said : line();
    },
    mono: () => machine.mono(),
    after: (ms, fn) => machine.after(ms, fn),
    jump() {
      const by = off(machine.now());
      // Small differences are taken over at once; else they would add up to a false jump.
      if (by === 0) anchor();
      return by;
    },
    adopt: anchor,
  };
}
