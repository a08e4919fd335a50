import { type Book, MINUTE } from "./book.ts";

/** A match that has not fired: when it came, elapsed, and its place among matches and ends of alerts. */
interface Hit {
  now: number;
  order: number;
  keys: Record<string, string>;
}

/** What is counted of each key, and when an alert of it ended last. */
export interface Counted {
  hits: Map<string, Hit[]>;
  ended: Map<string, number>;
  order: number;
}

export const nothingCounted = (): Counted => ({ hits: new Map(), ended: new Map(), order: 0 });

/** Counts a match of a key that has no alert; the keys of all that its rule fires with, else null. The clock's jumps make no match older. */
export function fires(
  book: Book,
  key: string,
  { rule, now, keys }: { rule: number; now: number; keys: Record<string, string> },
): Record<string, string>[] | null {
  const { count = 1, window_minutes = 1 } = book.rules[rule]?.fire_after ?? {};
  if (count === 1) return [keys];
  const { counted } = book;
  counted.order += 1;
  const hits = [...(counted.hits.get(key) ?? []), { now, order: counted.order, keys }].filter(
    (hit) => hit.now > now - window_minutes * MINUTE,
  );
  counted.hits.set(key, hits);
  if (hits.length < count) return null;
  counted.hits.delete(key);
  return hits.map((hit) => hit.keys);
}

/** An alert of the key ended: what was counted before counts no more. */
export function endHits({ counted }: Book, key: string): void {
  counted.order += 1;
  counted.hits.delete(key);
  counted.ended.set(key, counted.order);
}

/** A sender said that what it named is over, whatever identifiers it counts under. */
export function dropNamed({ counted }: Book, name: string): void {
  for (const key of counted.hits.keys())
    if (key.split(" ")[1] === `@${name}`) counted.hits.delete(key);
}

/** A rule was changed. */
export function dropHits({ counted }: Book, rule: number): void {
  for (const key of counted.hits.keys()) if (isOf(key, rule)) counted.hits.delete(key);
}

const isOf = (key: string, rule: number) => key.split(" ")[0] === String(rule);

/** Two words of a rule's lines are one template's: what either counted since an alert of either ended counts for both. */
export function mergeHits(
  book: Book,
  rule: number,
  { from, to }: { from: string; to: string },
): void {
  const { hits, ended } = book.counted;
  for (const key of [...new Set([...hits.keys(), ...ended.keys()])]) {
    const [, word, host] = key.split(" ");
    if (!isOf(key, rule) || word !== from) continue;
    const into = `${rule} ${to} ${host}`;
    const since = Math.max(ended.get(key) ?? 0, ended.get(into) ?? 0);
    const all = [...(hits.get(into) ?? []), ...(hits.get(key) ?? [])]
      .filter(({ order }) => order > since && !book.standing.has(into))
      .sort((a, b) => a.order - b.order);
    hits.delete(key);
    hits.set(into, all);
    ended.set(into, since);
  }
}
