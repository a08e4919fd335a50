import type { RuleBody } from "../../src/core/projects/rule.ts";
import { type Book, MINUTE } from "./book.ts";
import type { Fact, Named } from "./facts.ts";

/** What fired and has to last, as it is told (contract §22, 8). Times are elapsed seconds, which no jump of the clock touches. */
export interface Wait {
  key: string;
  /** Its rule's row, and its kind of line. */
  rule: number;
  line: number;
  begun: number;
  /** When its time is over, and when that is looked at. */
  over: number;
  due: number;
  last: number;
  every: number;
  words: number;
  named: Named | null;
  host: string;
  word: string;
  /** The keys of all events, in order. */
  heard: Record<string, string>[];
  order: number;
  /** When something last changed when it is due: what is due then may lie in the past. */
  changed: number;
}

type Event = Extract<Fact, { what: "event" }>;

const seconds = (rule: RuleBody | undefined): number => (rule?.for_minutes ?? 0) * MINUTE;
export const mustLast = (book: Book, row: number): boolean => seconds(book.rules[row]) > 0;

const promised = (named: Named | null): number | null =>
  named === null || named.lasts === null || named.lasts <= 0 ? null : named.lasts;

/** It fired, and waits from now on. */
export function beginWait(
  book: Book,
  key: string,
  { fact, rule, keys }: { fact: Event; rule: number; keys: Record<string, string>[] },
): void {
  const begun = fact.wall - book.jumped;
  const over = begun + seconds(book.rules[rule]);
  const lasts = promised(fact.named);
  const every = lasts === null ? MINUTE : Math.ceil(lasts / 2);
  const { rule: line, named, host, word } = fact;
  book.waits.order += 1;
  const { order } = book.waits;
  const times = { begun, over, due: over, last: begun, every, words: 1, order, changed: begun };
  book.waits.all.set(key, { key, rule, line, ...times, named, host, word, heard: keys });
}

/** It is heard of again while it waits. Whether that is the same firing, said again. */
export function hearWait(
  book: Book,
  wait: Wait,
  { fact, keys }: { fact: Event; keys: Record<string, string> },
): boolean {
  const now = fact.wall - book.jumped;
  const isHeld = wait.due > wait.over;
  if (now > wait.last && !isHeld) {
    const gap = now - wait.last;
    wait.every = wait.words === 1 ? gap : Math.max(wait.every, gap);
    wait.words += 1;
  }
  const { named } = fact;
  const isSame =
    named !== null && named.instance !== null && named.instance === wait.named?.instance;
  wait.due = wait.over;
  wait.last = now;
  wait.changed = now;
  wait.word = fact.word;
  if (named !== null) wait.named = named;
  wait.heard.push(keys);
  return isSame;
}

/** Whether it is still there at the end of its time. */
export const lasted = ({ key, last, begun, over }: Wait): boolean =>
  key.split(" ")[1]?.startsWith("@") === true || last >= over - (over - begun) / 3;

/** Those whose time is over, in order; they wait no more. */
export function takeDue(book: Book, now: number): Wait[] {
  const due = [...book.waits.all.values()].filter((wait) => wait.due <= now);
  for (const { key, due: at, changed } of due) {
    book.waits.all.delete(key);
    if (Math.max(at, changed) < now && at >= book.upSince)
      book.late.push(`what waits as ${key} and was due at ${at} was looked at in ${now}`);
  }
  return due.sort((a, b) => a.due - b.due || a.order - b.order);
}

/** Its sender says that it is over, unless it names an earlier firing. */
export function endWaits(book: Book, { key, instance }: { key: string; instance: string | null }) {
  for (const wait of [...book.waits.all.values()]) {
    if (wait.key.split(" ")[1] !== `@${key}`) continue;
    const standing = wait.named?.instance ?? null;
    const isLate = instance !== null && standing !== null && Number(instance) < Number(standing);
    if (!isLate) book.waits.all.delete(wait.key);
  }
}

/** The rule's time is another, from when it fired on; a rule that is gone has none. */
export function retimeWaits(
  book: Book,
  row: number,
  { before, now }: { before: RuleBody; now: number },
): void {
  const after = book.rules[row];
  if (after === undefined || after.for_minutes === before.for_minutes) return;
  for (const wait of book.waits.all.values()) {
    if (wait.rule !== row) continue;
    const over = wait.begun + seconds(after);
    wait.due = wait.due > wait.over ? Math.max(wait.due, over) : over;
    wait.over = over;
    wait.changed = now;
  }
}

export function dropWaits(book: Book, row: number): void {
  for (const wait of book.waits.all.values())
    if (wait.rule === row) book.waits.all.delete(wait.key);
}

const HOUR = 3600;

/** The box was off: senders may say meanwhile what they said to nobody. */
export function startWaits(book: Book, now: number): void {
  for (const wait of book.waits.all.values()) {
    const third = (wait.over - wait.begun) / 3;
    if (wait.key.split(" ")[1]?.startsWith("@"))
      wait.due = Math.max(wait.due, now + Math.min(HOUR, 2 * wait.every));
    else if (now > wait.over - third) wait.due = Math.max(wait.due, now + third);
  }
}

/** Two words of a rule's lines are one template's. */
export function mergeWaits(
  book: Book,
  rule: number,
  { from, to }: { from: string; to: string },
): void {
  const { all } = book.waits;
  for (const wait of [...all.values()]) {
    const [row, called, host] = wait.key.split(" ");
    if (Number(row) !== rule || called !== from) continue;
    const key = `${row} ${to} ${host}`;
    const other = all.get(key);
    all.delete(wait.key);
    if (book.standing.has(key)) all.delete(key);
    else if (other === undefined) all.set(key, { ...wait, key });
    else all.set(key, bothOf(key, wait, other));
  }
}

/** It has an alert that stands: nothing waits for it. */
export function standsNow(book: Book, ...keys: string[]): void {
  for (const key of keys) book.waits.all.delete(key);
}

function bothOf(key: string, moved: Wait, there: Wait): Wait {
  const [earlier, later] = moved.last > there.last ? [there, moved] : [moved, there];
  return {
    ...later,
    key,
    begun: Math.min(moved.begun, there.begun),
    over: Math.min(moved.over, there.over),
    due: Math.min(moved.due, there.due),
    every: Math.max(moved.every, there.every),
    words: Math.max(moved.words, there.words),
    heard: [...earlier.heard, ...later.heard],
    order: there.order,
    changed: Math.max(moved.changed, there.changed),
  };
}
