import { type Book, close, NEVER, type Told } from "./book.ts";
import { mergeWaits, standsNow } from "./waiting.ts";
import { mergeHits } from "./windows.ts";
import { LINES, MERGED_AT } from "./world.ts";

/** Of two alerts that prove to be one an open one lives, else the first; it owes what either owed. */
function merge(
  book: Book,
  [a, b]: readonly [Told, Told],
  { key, wall }: { key: string; wall: number },
) {
  const [first, second] = a.id < b.id ? [a, b] : [b, a];
  const secondLives = first.state !== "open" && second.state === "open";
  const [kept, ended] = secondLives ? [second, first] : [first, second];
  const bothOpen = ended.state === "open";
  close(book, ended, { by: "merged", wall });
  for (const [name, values] of ended.heard)
    kept.heard.set(name, [...(kept.heard.get(name) ?? []), ...values]);
  kept.hasMerged = true;
  kept.lastMatchWall = Math.max(kept.lastMatchWall, ended.lastMatchWall);
  kept.quietSince = Math.max(kept.quietSince, ended.quietSince);
  // Told further are those whom the higher ladder paged last; where both stand alike, those of either.
  if (ended.level === kept.level)
    kept.accounts = [...new Set([...kept.accounts, ...ended.accounts])];
  else if (ended.level > kept.level)
    Object.assign(kept, { level: ended.level, accounts: ended.accounts });
  book.standing.delete(kept.key);
  kept.key = key;
  book.standing.set(key, kept);
  if (!bothOpen) return;
  kept.openedAt = Math.min(kept.openedAt, ended.openedAt);
  const repeats = Math.min(kept.repeatAt, ended.repeatAt);
  kept.stepAt = Math.min(kept.stepAt, ended.stepAt);
  if (kept.turns !== ended.turns) kept.stepAt = Math.min(kept.stepAt, repeats);
  kept.repeatAt = kept.turns === ended.turns ? repeats : NEVER;
  kept.turns = Math.min(kept.turns, ended.turns);
  kept.renotifyAt = Math.min(kept.renotifyAt, ended.renotifyAt);
  kept.renotified = Math.min(kept.renotified, ended.renotified);
}

/** With the third word that a rule's lines name they are one template: what stands under the second goes to the first. */
export function readLine(book: Book, line: { rule: number; word: string; wall: number }): void {
  const { rule, word, wall } = line;
  const { standing } = book;
  const known = book.words[rule] as string[];
  if (known.includes(word)) return;
  known.push(word);
  if (known.length !== MERGED_AT) return;
  for (const alert of [...standing.values()]) {
    const [row, called, host] = alert.key.split(" ");
    if (lineOf(book, alert) !== rule || called !== known[1]) continue;
    const key = `${row} ${known[0]} ${host}`;
    const other = standing.get(key);
    if (other !== undefined) merge(book, [alert, other], { key, wall });
    else {
      standing.delete(alert.key);
      alert.key = key;
      standing.set(key, alert);
    }
    book.counted.hits.delete(`${row} ${known[1]} ${host}`);
    book.counted.hits.delete(key);
    standsNow(book, key, `${row} ${known[1]} ${host}`);
  }
  const row = book.rows[rule];
  if (row == null) return;
  const both = { from: known[1] ?? "", to: known[0] ?? "" };
  mergeHits(book, row, both);
  mergeWaits(book, row, both);
}

/** Which kind of line its rule takes, or took. */
const lineOf = ({ rules }: Book, alert: Told) =>
  LINES.indexOf(rules[alert.rule]?.match.template_contains ?? "");

/** What a line that names this word is counted under. */
export function templateOf(book: Book, { rule, word }: { rule: number; word: string }): string {
  const known = book.words[rule] as string[];
  return (known.length < MERGED_AT ? word : known[0]) ?? word;
}
