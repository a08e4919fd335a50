/** The named levels, highest first (contract §15, Ingest). */
const NAMES: readonly (readonly [from: number, name: string])[] = [
  [500, "critical"],
  [400, "error"],
  [300, "warn"],
  [200, "info"],
  [100, "debug"],
];

/** The name of a level; between two names, the lower one and the number. */
export function levelName(level: number): string {
  const [floor, name] = NAMES.find(([from]) => level >= from) ?? [0, "level"];
  return level === floor && level > 0 ? name : `${name} (${level})`;
}

/** A level as a person writes it: its name, or a number of at least 0. null for anything else. */
export function levelFrom(text: string): number | null {
  const word = text.trim().toLowerCase();
  const named = NAMES.find(([, name]) => name === word);
  if (named !== undefined) return named[0];
  return /^\d{1,15}$/.test(word) ? Number(word) : null;
}

/** The next named level above a named one; above the highest there is no end. */
export function levelAbove(level: number): number {
  return NAMES.findLast(([from]) => from > level)?.[0] ?? Number.POSITIVE_INFINITY;
}
