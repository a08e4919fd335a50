import { LRUCache } from "lru-cache";
import { RE2JSSyntaxException, RE2Set } from "re2js";
import type { Clock } from "../../ground/kit/clock.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import { fits } from "../../ground/kit/text.ts";
import type { Reader } from "../../ground/store/store.ts";

/** Patterns that people write (RE2): how large one may be, and how long all of a tenant's may take. */

/** Characters of a pattern. */
const LONGEST = 256;
/** Steps that a pattern may come to with its counted repeats written out: what a character of a value may cost. */
const MOST_STEPS = 600;

/** A pattern, and what it costs. */
export interface ValuePattern {
  readonly text: string;
  readonly steps: number;
}

export const valuePattern = (text: string): ValuePattern => ({ text, steps: stepsOf(text) });

/** Whether it may be run at all: an older program bounded nothing but the length of what is stored. */
export const isRunnable = ({ steps }: ValuePattern): boolean => steps <= MOST_STEPS;

/** Why a pattern isn't taken for its size; null: it is. */
export function sizeFault(text: string): string | null {
  if (!fits(text, LONGEST)) return `must have at most ${LONGEST} characters`;
  const { steps } = valuePattern(text);
  if (steps === Infinity) return "has a range too wide to ignore the case of";
  if (steps > MOST_STEPS)
    return `comes to ${steps} steps with its repeats written out: at most ${MOST_STEPS} are taken`;
  return null;
}

/** An escape, and within it a class of Unicode. What stands between \Q and \E is none. */
const ESCAPE = /\\(?:Q.*?(?:\\E|$)|([pP](?:\{[^}]*\}|.))|.)/gsu;
/** Classes of Unicode that there are. To make one where case is ignored takes as long as hundreds of steps. */
const classes = new LRUCache<string, true>({ max: 500 });

/** The pattern with another class in the place of each of Unicode: it is written well where that one is. */
function withoutClasses(text: string): string {
  return text.replaceAll(ESCAPE, (piece, named) => {
    if (named === undefined) return piece;
    if (!classes.has(piece)) parse(piece, 1);
    classes.set(piece, true);
    return "\\d";
  });
}

/** Steps of patterns that are checked in one turn of the event loop: it stands meanwhile. */
const MOST_CHECKED = 600_000;
let checked = 0;

/** What is wrong with how a pattern is written; null: nothing. */
export function syntaxFault(text: string): string | null {
  if (checked === 0) void othersFirst().then(() => (checked = 0));
  checked += stepsOf(text);
  if (checked > MOST_CHECKED)
    return `comes after patterns of ${MOST_CHECKED} steps: no more are taken at once`;
  try {
    parse(withoutClasses(text), 1);
    return null;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return `is no pattern: ${error.message}`;
  }
}

/** One piece of a pattern, however many characters it takes; a class as a whole. */
const PIECE =
  /\\x\{[0-9a-f]*\}|\\p(?:\{[^}]*\}|.)|\\Q(?:(?!\\E).)*(?:\\E)?|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\(\?P?<\w*>|\(\?[\w-]*[:)]|\{\d+(?:,\d*)?\}|./gisu;
/** A class of Unicode, which is large to make however seldom it is met. */
const NAMED_CLASS = /\\p/gi;
const NAMED_STEPS = 50;
const IGNORES_CASE = /\(\?[a-z]*i/i;
const RANGE = /-(?:\\x\{([0-9a-f]+)\}|([^\]\\]))/giu;
/** Last character that a range goes to where case is ignored: each of a range is then made by itself. */
const LAST_FOLDED = 0x24f;

/** At most how many instructions a pattern compiles to, without compiling it: a large one takes seconds. Pure. */
function stepsOf(text: string): number {
  if (IGNORES_CASE.test(text) && text.matchAll(RANGE).some(isWide)) return Infinity;
  // Of each group that is open: the steps of what stands before its last piece, and of that one, which a repeat repeats.
  const open = [{ before: 0, last: 0 }];
  for (const [piece] of text.matchAll(PIECE)) {
    const group = open.at(-1) ?? { before: 0, last: 0 };
    const put = (steps: number) => {
      group.before += group.last;
      group.last = steps;
    };
    if (piece.startsWith("\\Q")) for (const _ of piece) put(1);
    else if (/^\{\d/.test(piece)) group.last = repeated(group.last, piece);
    else if (/^[*+?]$/.test(piece)) group.last += piece === "*" ? 2 : 1;
    else if (piece === ")" && open.length > 1) {
      open.pop();
      closeGroup(open.at(-1) ?? group, Math.max(1, group.before + group.last));
    } else if (piece.startsWith("(") && !piece.endsWith(")")) open.push({ before: 0, last: 0 });
    else put(piece === "|" ? 2 : 1);
  }
  const steps = open.reduce((sum, { before, last }) => sum + before + last, 0);
  return steps + NAMED_STEPS * text.matchAll(NAMED_CLASS).toArray().length;
}

function closeGroup(outer: { before: number; last: number }, steps: number): void {
  outer.before += outer.last;
  outer.last = steps + 2;
}

/** `x{2,5}` is written out as `xx(x(x(x)?)?)?`. */
function repeated(steps: number, count: string): number {
  const [least = 0, most = least] = count.slice(1, -1).split(",").map(Number);
  return Math.max(1, least, most) * steps + Math.max(0, most - least) + 2;
}

function isWide([, code, char]: RegExpExecArray): boolean {
  const last = code === undefined ? char?.codePointAt(0) : Number.parseInt(code, 16);
  return (last ?? 0) > LAST_FOLDED;
}

/** Bytes for each step that a pattern's matcher may remember of the values it saw. */
const BYTES_A_STEP = 4_096;
/** Steps of all patterns that are kept ready to run in this process. */
const MOST_READY = 65_536;

const matchers = new LRUCache<string, RE2Set>({ maxSize: MOST_READY });

/** Throws RE2JSSyntaxException. */
function parse(text: string, steps: number): RE2Set {
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, (steps + 1) * BYTES_A_STEP);
  set.add(text);
  return set;
}

function matcherOf({ text, steps }: ValuePattern): RE2Set {
  const known = matchers.get(text);
  if (known !== undefined) return known;
  const made = parse(text, steps);
  matchers.set(text, made, { size: steps + 1 });
  return made;
}

/** Whether the whole value is as the pattern says. The caller bounds how long that takes, by the pattern's steps and its own time. */
export const takesWhole = (pattern: ValuePattern, value: string): boolean =>
  matcherOf(pattern).match(value).length > 0;

/** What all patterns of a tenant may take of the thread that they run on. */
export interface PatternTime {
  /** Whether the whole value is as the pattern says; null: it may not be run, or not now, so that it isn't known. */
  run(pattern: ValuePattern, value: string): boolean | null;
  /** A rule was taken to match because of one that wasn't run. */
  doubt(rule: { project_id: number; name: string }): void;
  /** Such rules, the latest first. */
  doubts(): Doubt[];
}

interface Doubt {
  projectId: number;
  rule: string;
  /** Unix seconds, of the latest time. */
  at: number;
}

/** Milliseconds that patterns may take at once, and the share of the time that they may take in all. */
const AT_ONCE_MS = 60;
const SHARE = 0.5;
/** Once that is spent, what takes no more than so much, steps by characters, goes on for as long again. */
const SMALL = 100_000;
/** No step takes longer for a character: what does is the machine's doing, and isn't counted. */
const SLOWEST_MS = 0.0005;
/** Characters that it costs as much as to make a pattern ready. */
const MAKING = 50;
const MOST_DOUBTS = 100;

export function createPatternTime(clock: Pick<Clock, "mono" | "now">, share = SHARE): PatternTime {
  const doubts = new LRUCache<string, Doubt>({ max: MOST_DOUBTS });
  let [left, seenAt] = [AT_ONCE_MS, -Infinity];
  return {
    run(pattern, value) {
      if (!isRunnable(pattern)) return null;
      const begun = clock.mono();
      left = Math.min(AT_ONCE_MS, left + (begun - seenAt) * share);
      seenAt = begun;
      const most = pattern.steps * (value.length + MAKING);
      if (left <= (most <= SMALL ? -AT_ONCE_MS : 0)) return null;
      const takes = takesWhole(pattern, value);
      left -= Math.min(clock.mono() - begun, most * SLOWEST_MS);
      return takes;
    },
    doubt({ project_id: projectId, name: rule }) {
      doubts.set(`${projectId} ${rule}`, { projectId, rule, at: Math.floor(clock.now() / 1000) });
    },
    doubts: () => [...doubts.values()].filter((doubt) => doubt !== undefined),
  };
}

const times = new WeakMap<object, PatternTime>();

/** One for all who work on the same store. */
export function patternTimeOf({ db, clock }: Pick<Reader, "db" | "clock">): PatternTime {
  return times.getOrInsertComputed(db, () => createPatternTime(clock));
}
