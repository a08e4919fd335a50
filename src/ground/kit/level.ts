/** The named levels, highest first (contract §15, Ingest). */
const NAMES: readonly (readonly [from: number, name: string])[] = [
  [500, "critical"],
  [400, "error"],
  [300, "warn"],
  [200, "info"],
  [100, "debug"],
];

/** The name of a level. Between two names: the lower name and the number. */
export function levelName(level: number): string {
  const [floor, name] = NAMES.find(([from]) => level >= from) ?? [0, "level"];
  return level === floor && level > 0 ? name : `${name} (${level})`;
}

/** Parses a level: a name, or a number of at least 0. null for other text. */
export function levelFrom(text: string): number | null {
  const word = text.trim().toLowerCase();
  const named = NAMES.find(([, name]) => name === word);
  if (named !== undefined) return named[0];
  return /^\d{1,15}$/.test(word) ? Number(word) : null;
}

/** The next named level above a named one; infinity above the highest. */
export function levelAbove(level: number): number {
  return NAMES.findLast(([from]) => from > level)?.[0] ?? Number.POSITIVE_INFINITY;
}
