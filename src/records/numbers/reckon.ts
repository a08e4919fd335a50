import { Zone } from "../../core/oncall/zone.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { tenantZone } from "../../people/reader-clock.ts";
import {
  type CountedAlert,
  countHistory,
  type DayShare,
  type HistoryLine,
  type NoisyPage,
} from "./alert-facts.ts";
import { hourOfWeek, isNight, localDay, sleepOf } from "./days.ts";
import { count, noFigures } from "./figures.ts";
import { cellsOf, keepCells, type Sums } from "./rows.ts";

/**
 * Days are reckoned from the alerts' history, in the order in which it was written, each line once: `numbers_read` is the last
 * one, and moves in the transaction that adds what was read. So a kill loses and doubles nothing, a late fact is counted when
 * it comes, a clock that jumps does no harm, and a backup has both or neither. An alert's new lines come to the difference of
 * what its history is with them and without.
 */

/** The last line of history that was read. */
export const readUntil = (reader: Reader): number => Number(getMeta(reader, "numbers_read") ?? 0);

const LINES = "SELECT id, alert_id AS alert FROM timeline WHERE id > ? ORDER BY id LIMIT ?";
const LENGTH = "SELECT count(*) FROM timeline WHERE alert_id = ?";
const ALERT = `SELECT id, project_id AS projectId, rule_id AS ruleId, level, opened_at AS openedAt FROM alerts
  WHERE id = ? AND drill = 0`;
const HISTORY = `SELECT id, at, kind, account_id AS accountId, detail FROM timeline
  WHERE alert_id = ? AND id <= ? ORDER BY id`;
const PERSON = `SELECT a.timezone, p.rang_at AS rangAt, p.nights FROM (SELECT ? AS id) i
  LEFT JOIN accounts a ON a.id = i.id LEFT JOIN number_people p ON p.account_id = i.id`;

/** Lines read at one time, and lines of histories that are looked at for them. */
const MOST_LINES = 200;
const MOST_WORK = 5_000;
/** Rings of one person with less between them are one interruption. */
const APART = 600;
const NIGHTS_KEPT = 8;

interface Person {
  zone: Zone;
  rangAt: number | null;
  nights: number[];
}

/** Reads on where the rows end. Writes nothing. */
export function startReckoning(reader: Reader) {
  let until = readUntil(reader);
  const sums: Sums = new Map();
  const people = new Map<string, Person>();
  const usual = tenantZone(reader);
  const zone = new Zone(usual);

  const personOf = (account: string): Person => {
    type Row = { timezone: string | null; rangAt: number | null; nights: string | null };
    const known = people.get(account);
    if (known !== undefined) return known;
    const { timezone, rangAt, nights } = reader.sql<[string], Row>(PERSON).get(account) as Row;
    const person = {
      zone: timezone === null ? zone : new Zone(timezone),
      rangAt,
      nights: JSON.parse(nights ?? "[]") as number[],
    };
    people.set(account, person);
    return person;
  };

  return {
    /** The last line that was read. */
    get until() {
      return until;
    },
    sums,
    people,
    /** Reads so many lines more, at most. Returns whether there may be others. */
    more(most = MOST_LINES) {
      const from = until;
      const slice = nextSlice(reader, from, Math.min(most, MOST_LINES));
      const rings: { alert: CountedAlert; level: number; ring: NoisyPage }[] = [];
      for (const id of slice.alerts) {
        const alert = reader.sql<[number], CountedAlert>(ALERT).get(id);
        if (alert === undefined) continue;
        const lines = historyOf(reader, id, slice.until);
        const after = countHistory(alert, lines, zone);
        const before = countHistory(
          alert,
          lines.filter((line) => line.id <= from),
          zone,
        );
        const { level } = after;
        for (const one of after.counted) cellsOf(sums, { ...alert, level }, one, 1);
        for (const one of before.counted) cellsOf(sums, { ...alert, level }, one, -1);
        for (const ring of after.rings) if (ring.line > from) rings.push({ alert, level, ring });
      }
      for (const { alert, level, ring } of rings.sort((a, b) => a.ring.line - b.ring.line))
        cellsOf(sums, { ...alert, level }, rang(ring, personOf(ring.account), zone), 1);
      until = slice.until;
      return slice.more;
    },
  };
}

/** The next lines, as far as their alerts' histories aren't too long for one go. */
function nextSlice(reader: Reader, from: number, most: number) {
  const lines = reader.sql<[number, number], { id: number; alert: number }>(LINES).all(from, most);
  const alerts = new Set<number>();
  let work = 0;
  let until = from;
  for (const { id, alert } of lines) {
    if (!alerts.has(alert)) work += reader.sql<[number], number>(LENGTH).pluck().get(alert) ?? 0;
    if (work > MOST_WORK && until > from) return { alerts, until, more: true };
    alerts.add(alert);
    until = id;
  }
  return { alerts, until, more: lines.length === most };
}

function historyOf(reader: Reader, alert: number, until: number): HistoryLine[] {
  type Row = Omit<HistoryLine, "detail"> & { detail: string };
  return reader
    .sql<[number, number], Row>(HISTORY)
    .all(alert, until)
    .map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
}

/** A ring, and whether it interrupted somebody anew, at night, in their sleep. */
function rang({ at, account }: NoisyPage, person: Person, zone: Zone): DayShare {
  const figures = noFigures();
  const { counts } = figures;
  const night = isNight(person.zone, at) ? 1 : 0;
  counts.rings = 1;
  counts.night_rings = night;
  count(figures.spans.rang, hourOfWeek(zone, at));
  if (person.rangAt === null || Math.abs(at - person.rangAt) >= APART) {
    counts.interruptions = 1;
    counts.night_interruptions = night;
    const sleep = sleepOf(person.zone, at);
    if (sleep !== null && !person.nights.includes(sleep)) {
      counts.nights_broken = 1;
      person.nights = [...person.nights, sleep].slice(-NIGHTS_KEPT);
    }
  }
  person.rangAt = at;
  return { day: localDay(zone, at), account, figures };
}

const KEEP_PERSON = `INSERT INTO number_people (account_id, rang_at, nights) VALUES (?, ?, ?)
  ON CONFLICT (account_id) DO UPDATE SET rang_at = excluded.rang_at, nights = excluded.nights`;

/** Reads some lines and adds what they come to. Returns whether there may be more. */
export function reckonSome(tx: Tx, most?: number): boolean {
  const reckoning = startReckoning(tx);
  const from = reckoning.until;
  const more = reckoning.more(most);
  if (reckoning.until === from) return false;
  keepCells(tx, reckoning.sums);
  for (const [account, { rangAt, nights }] of reckoning.people)
    tx.sql<[string, number, string]>(KEEP_PERSON).run(account, rangAt ?? 0, JSON.stringify(nights));
  setMeta(tx, "numbers_read", reckoning.until);
  return more;
}

/** Whether history has lines that weren't read. */
export function isBehind(reader: Reader): boolean {
  const last = reader.sql<[], number | null>("SELECT max(id) FROM timeline").pluck().get() ?? 0;
  return last > readUntil(reader);
}
