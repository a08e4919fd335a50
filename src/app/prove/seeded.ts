/** Choices by a seed: the same seed and label give the same choices on every machine. */
export interface Seeded {
  /** In [0, 1). */
  fraction(): number;
  /** A whole number in [least, most]. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Each label has a stream of its own, so drawing more from one doesn't change the others. */
export function seeded(seed: number, label: string): Seeded {
  const fraction = stream(fold(`${seed}/${label}`));
  const between = (least: number, most: number) =>
    least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    between,
    chance: (probability) => fraction() < probability,
    pick: (list) => list[between(0, list.length - 1)] as (typeof list)[number],
  };
}

/** FNV-1a of a text: 32 bits. */
function fold(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/** mulberry32. */
function stream(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
