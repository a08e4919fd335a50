import type { LadderBody } from "../../src/core/projects/ladder.ts";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import type { LogEvent } from "./facts.ts";
import type { Heard } from "./labels.ts";
import { type ClimbStep, climbOf } from "./shared.ts";
import type { Wait } from "./waiting.ts";
import { type Counted, endHits, nothingCounted } from "./windows.ts";
import type { World } from "./world.ts";

/** An alert as the reference knows it: what happened to it. Times are elapsed seconds unless they say "wall". */
export interface Told {
  id: number;
  /** Its rule's row, as of rules that were made again, each counted from 0. */
  rule: number;
  /** What it is counted under: rule, word of the line or name (`@…`), host. */
  key: string;
  state: "open" | "acknowledged" | "resolved";
  openedAt: number;
  /** How many steps had their turn; when the next one has, and when the last one is repeated. */
  turns: number;
  stepAt: number;
  repeatAt: number;
  renotified: number;
  renotifyAt: number;
  quietSince: number;
  /** When its rule was last replaced, or it was opened again: that may make due what lies in the past. */
  changedAt: number;
  /** Since when somebody has it. */
  ackedAt: number;
  lastMatchWall: number;
  level: number;
  accounts: string[];
  /** Its rule is removed, nobody was paged of it, and somebody gave it back: the fallback is. */
  isOwed: boolean;
  lastOfKind: Map<string, number>;
  /** Which firing it is, when its sender's promise ends, and each report that it made, in order. */
  instance: string | null;
  promisedUntil: number;
  reports: Report[];
  heard: Heard;
  /** It took over another. */
  hasMerged: boolean;
  /** How it ended last. */
  ended: { by: Ending; wall: number; now: number } | null;
}

export interface Report {
  wall: number;
  now: number;
  lasts: number | null;
}

export type Ending = "person" | "source" | "quiet" | "stale" | "merged";

/** What the reference has read so far. */
export interface Book {
  readonly world: World;
  /** By row. */
  readonly rules: RuleBody[];
  /** The row of each kind of line's rule; null: it was removed. */
  readonly rows: (number | null)[];
  readonly ladders: Map<string, LadderBody>;
  readonly events: LogEvent[];
  readonly late: string[];
  readonly alerts: Told[];
  readonly standing: Map<string, Told>;
  /** People who were removed. */
  readonly gone: Set<string>;
  /** The words that lines of each rule have named, in order. */
  readonly words: string[][];
  readonly counted: Counted;
  /** What fired and has to last, by key. */
  readonly waits: { all: Map<string, Wait>; order: number };
  /** The sum of the clock's jumps: elapsed time is wall time without them. */
  jumped: number;
  upSince: number;
  repeats: number;
  followed: number;
}

export const MINUTE = 60;
export const NEVER = Number.POSITIVE_INFINITY;

export function openBook(world: World): Book {
  return {
    world,
    rules: [...world.rules],
    rows: world.rules.map((_, i) => i),
    ladders: new Map(world.ladders),
    events: [],
    late: [],
    alerts: [],
    standing: new Map(),
    counted: nothingCounted(),
    waits: { all: new Map(), order: 0 },
    gone: new Set(),
    words: world.rules.map(() => []),
    jumped: 0,
    upSince: 0,
    repeats: 0,
    followed: 0,
  };
}

export function ruleOf(book: Book, alert: Told): RuleBody {
  return book.rules[alert.rule] as RuleBody;
}

/** All that it climbs. */
export function climbing(book: Book, alert: Told): ClimbStep[] {
  return climbOf(book.ladders, ruleOf(book, alert));
}

/** Whether its rule was removed. */
export function isOrphan(book: Book, alert: Told): boolean {
  return !book.rows.includes(alert.rule);
}

/** One event of an alert, never two of a kind in one second. */
export function say(book: Book, alert: Told, { event, wall }: { event: string; wall: number }) {
  const timestamp = Math.max(wall, (alert.lastOfKind.get(event) ?? 0) + 1);
  alert.lastOfKind.set(event, timestamp);
  const { id, level, accounts } = alert;
  book.events.push({ alert: id, event, timestamp, level, accounts });
}

export function close(book: Book, alert: Told, { by, wall }: { by: Ending; wall: number }) {
  alert.state = "resolved";
  alert.ended = { by, wall, now: wall - book.jumped };
  if (book.standing.get(alert.key) === alert) book.standing.delete(alert.key);
  endHits(book, alert.key);
  say(book, alert, { event: "alert.resolved", wall });
}

export function acknowledge(book: Book, alert: Told, wall: number) {
  if (alert.state !== "open") return;
  alert.state = "acknowledged";
  alert.ackedAt = wall - book.jumped;
  say(book, alert, { event: "alert.acknowledged", wall });
}
