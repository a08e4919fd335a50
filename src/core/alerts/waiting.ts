import * as z from "zod";
import { cut } from "../../ground/kit/text.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { AlertLabels } from "./label-book.ts";
import { joinedLabels, labelsFrom } from "./labels.ts";

/**
 * What would open an alert of a rule with `for_minutes` (contract §5): a row for each key, from the match that fires until the
 * time is over. Then it opens, or is forgotten. Rows are written in the transaction that takes the event, so no kill loses one.
 */

/** What the alert opens with. No times of the box's clock but `firstSeen`, so that a jump of the clock changes nothing. */
export interface WouldOpen {
  /** The part of the key for its template or its name. */
  subject: string;
  templateId: string;
  template: string;
  /** Its name or template, to tell it apart where there are no identifiers. */
  called: string;
  identifiers: Readonly<Record<string, string>>;
  level: number;
  count: number;
  firstSeen: number;
  lastMessage: string;
  title: string | null;
  /** JSON of what was sent beside the message. */
  extra: string | null;
  source: string;
  isOfOneSource: boolean;
  labels: AlertLabels;
  /** By its sender: which firing it is, and the seconds until it must report again. */
  instance: string | null;
  lasts: number | null;
  /** Why its rule took it, where it takes only what is new or unusual. */
  because?: Readonly<Record<string, number>>;
  /** The alert of the same firing that somebody resolved here. */
  stillFiring: number | null;
  /** How often its sender or its matches were heard. */
  words: number;
}

/** Times in Unix seconds. */
export interface Waiting {
  alert_key: string;
  project_id: number;
  rule_id: number;
  /** Its sender's name for it; null: its sender says no end. */
  dedup_key: string | null;
  room: number | null;
  begun_at: number;
  over_at: number;
  /** Later than `over_at` where the box was off: until then its sender may still say that it ended. */
  due_at: number;
  matched_at: number;
  /** Seconds between two words of its sender, the most so far. */
  every: number;
  found: WouldOpen;
}

type Row = Omit<Waiting, "found"> & { found: string };

const COLUMNS =
  "alert_key, project_id, rule_id, dedup_key, room, begun_at, over_at, due_at, matched_at, every, found";
const FIND = `SELECT ${COLUMNS} FROM waiting WHERE alert_key = ?`;
const NAMED = `SELECT ${COLUMNS} FROM waiting WHERE project_id = ? AND dedup_key = ? AND room IS ? ORDER BY id`;
const DUE = `SELECT ${COLUMNS} FROM waiting WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`;
const OF_RULE = `SELECT ${COLUMNS} FROM waiting WHERE rule_id = ? ORDER BY due_at, id LIMIT ?`;
const WRITE = `INSERT INTO waiting (${COLUMNS})
  VALUES (:alert_key, :project_id, :rule_id, :dedup_key, :room, :begun_at, :over_at, :due_at, :matched_at, :every, :found)
  ON CONFLICT (alert_key) DO UPDATE SET begun_at = excluded.begun_at, over_at = excluded.over_at, due_at = excluded.due_at,
    matched_at = excluded.matched_at, every = excluded.every, found = excluded.found`;

const waitingOf = (row: Row): Waiting => {
  const found = JSON.parse(row.found) as WouldOpen & { labels: unknown };
  return { ...row, found: { ...found, labels: labelsFrom(JSON.stringify(found.labels)) } };
};

export function findWaiting(reader: Reader, key: string): Waiting | null {
  const row = reader.sql<[key: string], Row>(FIND).get(key);
  return row === undefined ? null : waitingOf(row);
}

/** All that waits under a sender's name, of every rule. */
export function namedWaiting(
  reader: Reader,
  { projectId, dedupKey, room }: { projectId: number; dedupKey: string; room: number | null },
): Waiting[] {
  const rows = reader.sql<[number, string, number | null], Row>(NAMED);
  return rows.all(projectId, dedupKey, room).map(waitingOf);
}

/** The names of what waits. */
export function waitingNames(reader: Reader, of: { projectId: number; room: number | null }) {
  return reader
    .sql<[number, number | null], string>(
      "SELECT DISTINCT dedup_key FROM waiting WHERE project_id = ? AND room IS ? AND dedup_key IS NOT NULL",
    )
    .pluck()
    .all(of.projectId, of.room);
}

export function dueWaiting(reader: Reader, at: number, most: number): Waiting[] {
  return reader.sql<[number, number], Row>(DUE).all(at, most).map(waitingOf);
}

/** When the next one is looked at, Unix seconds; null: nothing waits. */
export function nextWaiting(reader: Reader): number | null {
  return reader.sql<[], number | null>("SELECT min(due_at) FROM waiting").pluck().get() ?? null;
}

/** What of a rule waits, those first that open first. */
function waitingOfRule(reader: Reader, ruleId: number, most: number): Waiting[] {
  return reader.sql<[number, number], Row>(OF_RULE).all(ruleId, most).map(waitingOf);
}

/** What waits of a rule, as it is read: those that open first come first. */
export const waitingAnswer = z
  .object({
    count: z.int(),
    waiting: z
      .array(
        z.object({
          title: z.string().meta({ description: "Its title, else its last message." }),
          identifiers: z.record(z.string(), z.string()),
          level: z.int(),
          count: z.int(),
          since: z.int(),
          opens_at: z.int().meta({
            description: "When it opens, if it is still there; later where the box was off.",
          }),
        }),
      )
      .meta({ description: "The first hundred." }),
  })
  .meta({ id: "Waiting" });
export type WaitingAnswer = z.output<typeof waitingAnswer>;

const MOST_SHOWN = 100;
const LONGEST_TITLE = 200;

export function readWaiting(reader: Reader, ruleId: number): WaitingAnswer {
  const waiting = waitingOfRule(reader, ruleId, MOST_SHOWN).map(({ found, begun_at, due_at }) => ({
    title: cut(found.title ?? found.lastMessage, LONGEST_TITLE),
    identifiers: { ...found.identifiers },
    level: found.level,
    count: found.count,
    since: begun_at,
    opens_at: due_at,
  }));
  return { count: countWaiting(reader, ruleId), waiting };
}

export function countWaiting(reader: Reader, ruleId: number): number {
  const count = reader.sql<[number], number>("SELECT count(*) FROM waiting WHERE rule_id = ?");
  return count.pluck().get(ruleId) ?? 0;
}

export function writeWaiting(tx: Tx, one: Waiting): void {
  tx.sql<[Row]>(WRITE).run({ ...one, found: JSON.stringify(one.found) });
  tx.note({ topic: "waiting" });
}

export function dropWaiting(tx: Tx, key: string): void {
  const gone = tx.sql<[key: string]>("DELETE FROM waiting WHERE alert_key = ?").run(key);
  if (gone.changes > 0) tx.note({ topic: "waiting" });
}

const FIRST = "SELECT id FROM waiting ORDER BY due_at, id LIMIT 1";

/** The first that is due can't be looked at now: it is at `until`. */
export function postponeWaiting(tx: Tx, until: number): void {
  tx.sql<[number]>(`UPDATE waiting SET due_at = ? WHERE id = (${FIRST})`).run(until);
}

/** Whether it opens once it is due: its sender didn't end it, or matches still came in the last third of its time. */
export function stillComes({ dedup_key, begun_at, over_at, matched_at }: Waiting): boolean {
  return dedup_key !== null || matched_at >= lastThird(begun_at, over_at);
}

/** When the last third of a time begins. */
export const lastThird = (from: number, until: number): number => until - (until - from) / 3;

/** What waits is heard of again. Nothing holds it any more: it opens when its time is over. */
export function heardAgain(one: Waiting, at: number, found: WouldOpen): Waiting {
  const gap = at - one.matched_at;
  const wasHeld = one.due_at > one.over_at;
  const { words } = one.found;
  const every = gap <= 0 || wasHeld ? one.every : words === 1 ? gap : Math.max(one.every, gap);
  const isWord = gap > 0 && !wasHeld;
  return {
    ...one,
    due_at: one.over_at,
    matched_at: at,
    every,
    found: { ...found, words: isWord ? words + 1 : words },
  };
}

const OVER = `UPDATE waiting SET over_at = begun_at + :seconds,
    due_at = iif(due_at > over_at, max(due_at, begun_at + :seconds), begun_at + :seconds)
  WHERE rule_id = :rule`;

/** The rule may wait for another time now. What waits goes on, as alerts that are open do. */
export function retimeWaiting(tx: Tx, rule: { id: number; for_minutes: number }): void {
  const of = { rule: rule.id, seconds: rule.for_minutes * 60 };
  if (tx.sql<[typeof of]>(OVER).run(of).changes > 0) tx.note({ topic: "waiting" });
}

const SHIFT = `UPDATE waiting SET begun_at = begun_at + :by, over_at = over_at + :by, due_at = due_at + :by,
    matched_at = matched_at + :by`;

/** The clock jumped by so many seconds, either way. */
export function shiftWaiting(tx: Tx, by: number): void {
  if (tx.sql<[{ by: number }]>(SHIFT).run({ by }).changes > 0) tx.note({ topic: "waiting" });
}

/** The longest time for which a sender that speaks seldom is waited for, seconds. */
const LONGEST_HOLD = 3600;
const HOLD = `UPDATE waiting SET due_at = max(due_at, :at + min(${LONGEST_HOLD}, 2 * every))
  WHERE dedup_key IS NOT NULL`;
const LISTEN = `UPDATE waiting SET due_at = max(due_at, :at + (over_at - begun_at) / 3)
  WHERE dedup_key IS NULL AND :at > over_at - (over_at - begun_at) / 3`;

/**
 * The box was off, and that time counts. A sender may have ended meanwhile what it named: its next word is waited for, or two
 * of its usual intervals, an hour at most. Of what has no sender's end a whole third is listened to.
 */
export function holdWaiting(tx: Tx): void {
  const of = { at: tx.at };
  const held =
    tx.sql<[typeof of]>(HOLD).run(of).changes + tx.sql<[typeof of]>(LISTEN).run(of).changes;
  if (held > 0) tx.note({ topic: "waiting" });
}

const PREFIXED = `SELECT alert_key FROM waiting
  WHERE rule_id = :rule AND (alert_key = :prefix OR (alert_key > :prefix || ':' AND alert_key < :prefix || ';'))`;

/** The keys that wait, and are `prefix` or begin with it and a colon. */
export function keysWaiting(reader: Reader, rule: number, prefix: string): string[] {
  return reader
    .sql<[{ rule: number; prefix: string }], string>(PREFIXED)
    .pluck()
    .all({ rule, prefix });
}

/** Two keys turned out to be one. Where it has a standing alert nothing waits for it; else it opens when the first would have. */
export function mergeWaiting(
  tx: Tx,
  {
    from,
    to,
    templateId,
    standing,
  }: { from: string; to: string; templateId: string; standing: boolean },
): void {
  const one = findWaiting(tx, from);
  const other = findWaiting(tx, to);
  dropWaiting(tx, from);
  if (standing) {
    dropWaiting(tx, to);
    return;
  }
  if (one === null) return;
  const moved = { ...one, alert_key: to, found: { ...one.found, subject: templateId, templateId } };
  writeWaiting(tx, other === null ? moved : bothOf(moved, other));
}

function bothOf(a: Waiting, b: Waiting): Waiting {
  const [earlier, later] = a.matched_at > b.matched_at ? [b, a] : [a, b];
  const [x, y] = [earlier.found, later.found];
  return {
    ...later,
    begun_at: Math.min(a.begun_at, b.begun_at),
    over_at: Math.min(a.over_at, b.over_at),
    due_at: Math.min(a.due_at, b.due_at),
    every: Math.max(a.every, b.every),
    found: {
      ...y,
      level: Math.max(x.level, y.level),
      count: x.count + y.count,
      firstSeen: Math.min(x.firstSeen, y.firstSeen),
      isOfOneSource: x.isOfOneSource && y.isOfOneSource && x.source === y.source,
      labels: joinedLabels(x.labels, y.labels, Object.keys(y.identifiers)),
      words: Math.max(x.words, y.words),
    },
  };
}
