import type { Random } from "../../src/ground/kit/random.ts";

/** Randomness that a seed decides: the same seed gives the same run. */
export interface Seeded extends Random {
  /** A whole number in [0, n). */
  below(n: number): number;
  chance(p: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** sfc32 (Chris Doty-Humphrey, PractRand): small, fast, and good enough to shuffle a world. */
export function seeded(seed: number): Seeded {
  let a = 0x9e3779b9;
  let b = seed | 0;
  let c = 0x243f6a88;
  let counter = 1;
  const next = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i += 1) next();
  const below = (n: number) => Math.floor((next() / 2 ** 32) * n);
  return {
    bytes(n) {
      const bytes = Buffer.alloc(n);
      for (let i = 0; i < n; i += 1) bytes[i] = next() & 0xff;
      return bytes;
    },
    fraction: () => next() / 2 ** 32,
    below,
    chance: (p) => next() / 2 ** 32 < p,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
  };
}
