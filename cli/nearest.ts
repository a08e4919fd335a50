/** Names that a message lists. */
const MOST = 5;

/** `names`, the most similar to `word` first. */
export function nearest(word: string, names: readonly string[]): string[] {
  const near = (name: string) => distance(word.toLowerCase(), name.toLowerCase());
  return names
    .map((name) => ({ name, far: near(name) }))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

/** `shop, zoo and 3 more`, the most similar first. */
export function someOf(word: string, names: readonly string[]): string {
  const shown = nearest(word, names).slice(0, MOST);
  const more = names.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The number of letters to insert, delete or replace to turn one word into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a.slice(0, 200)].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const changed = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
