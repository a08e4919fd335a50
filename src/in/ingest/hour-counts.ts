import { beginSeries, type CountSeries } from "../../core/projects/count-series.ts";
import { NEVER_BEFORE, RHYTHM_DAYS, UNWRITTEN_SECONDS } from "../../core/projects/missing.ts";
import { AN_HOUR, unixDay } from "../../core/projects/unusual.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type Downtimes, readDowntimes } from "./first-seen.ts";
import {
  type CountedBy,
  countKeys,
  type HourRow,
  MOST_A_DAY,
  mergeHours,
  readDays,
  readHours,
  seriesOfProject,
  writeHours,
} from "./hour-rows.ts";
import type { MergedTemplates } from "./merged-keys.ts";

/** How often each template came, by the hour, for five weeks; and how often what a rule takes did. Times are Unix seconds. */

const HOURS = 24;
/** Keys of all series in memory. */
const MOST_HELD = 100_000;
/** Keys that have waited for a minute are written so many at once: those that rules ask for, and others. */
const MOST_ASKED = 1000;
const MOST_WRITTEN = 200;
/** Of an hour's count a rule may lack so much after a kill: one in so many. */
const ONE_IN = 20;

/** A day of one key. */
interface Held extends HourRow {
  day: number;
  /** Since when it waits to be written; null: it is. */
  waitsSince: number | null;
  /** When it was written last, and how many came since. */
  writtenAt: number;
  unwritten: number;
  /** Rules ask for it. */
  isAsked: boolean;
}

interface HeldSeries {
  byKey: Map<string, Held>;
  /** Keys of the present day, to bound them. */
  day: number;
  keys: number;
}

export type HourCounts = ReturnType<typeof createHourCounts>;

/** The absolute value: after the clock was set back, the minute would never be over. */
const isOver = (since: number, at: number): boolean => Math.abs(at - since) >= UNWRITTEN_SECONDS;
const hourIn = (at: number): number => Math.floor(at / AN_HOUR) % HOURS;

export function createHourCounts() {
  const held = new Map<number, HeldSeries>();
  const known = new Map<number, Map<string, CountSeries>>();
  /** Whose the series in memory are, also while they are to be looked up anew. */
  const whose = new Map<number, Pick<CountSeries, "since"> & { projectId: number }>();
  const touched = new Map<Held, CountedBy>();
  /** Those that have waited longest first. */
  const waiting = new Map<Held, CountedBy>();
  let downs: Downtimes | null = null;
  let size = 0;
  let overflowed = 0;

  const save = (tx: Tx, of: CountedBy, one: Held) => {
    writeHours(tx, of, one);
    one.waitsSince = null;
    one.writtenAt = tx.at;
    one.unwritten = 0;
    touched.delete(one);
    waiting.delete(one);
  };
  /** Writes everything. */
  const finish = (tx: Tx) => {
    for (const [one, of] of waiting) save(tx, of, one);
  };
  const drop = () => {
    held.clear();
    touched.clear();
    waiting.clear();
    size = 0;
  };

  /** The series is gone: what came last isn't written any more. */
  const letGo = (series: number) => {
    const all = held.get(series)?.byKey ?? new Map<string, Held>();
    for (const one of all.values()) {
      touched.delete(one);
      waiting.delete(one);
    }
    size -= all.size;
    held.delete(series);
    whose.delete(series);
  };

  /** Memory lets go of a template's counts. */
  const release = (
    tx: Tx,
    { id: series, hasIdentifiers }: { id: number; hasIdentifiers: boolean },
    template: string,
  ) => {
    const byKey = held.get(series)?.byKey;
    if (byKey === undefined) return;
    const isOfIt = (key: string) => key === template || key.startsWith(`${template}:`);
    for (const key of hasIdentifiers ? byKey.keys().filter(isOfIt) : [template]) {
      const one = byKey.get(key);
      if (one === undefined) continue;
      if (one.waitsSince !== null) save(tx, { series, key }, one);
      byKey.delete(key);
      size--;
    }
  };

  const seriesOf = (tx: Tx, series: number, day: number): HeldSeries => {
    let one = held.get(series);
    if (one === undefined) {
      one = { byKey: new Map(), day: Number.NaN, keys: 0 };
      held.set(series, one);
    }
    if (one.day !== day) {
      one.day = day;
      one.keys = countKeys(tx, series, day);
    }
    return one;
  };

  /** The key's entry of the day of `at`, from the store where memory has another day or none; null over the limit. */
  const load = (tx: Tx, of: CountedBy): Held | null => {
    const day = unixDay(tx.at);
    if (size >= MOST_HELD) {
      finish(tx);
      drop();
    }
    const all = seriesOf(tx, of.series, day);
    const other = all.byKey.get(of.key);
    if (other !== undefined && other.waitsSince !== null) save(tx, of, other);
    const row = readHours(tx, of, day);
    if (row === null && all.keys >= MOST_A_DAY) {
      overflowed++;
      return null;
    }
    if (row === null) all.keys++;
    if (other === undefined) size++;
    const [before = null] = row === null ? readDays(tx, of, { day, days: RHYTHM_DAYS }) : [row];
    const one: Held = {
      day,
      hours: row?.hours ?? new Array<number>(HOURS).fill(0),
      last: before?.last ?? tx.at,
      gap: row?.gap ?? (before === null ? NEVER_BEFORE : 0),
      waitsSince: null,
      writtenAt: Number.NEGATIVE_INFINITY,
      unwritten: 0,
      isAsked: false,
    };
    all.byKey.set(of.key, one);
    return one;
  };

  return {
    /**
     * Counts one event, in its own transaction, and writes it within a minute. `asked`: rules ask for it, so it is written at the
     * end of its batch where a kill would lose what matters: the first event after a minute, or a twentieth of the hour's.
     * Not where the series has too many keys on this day.
     */
    add(tx: Tx, of: CountedBy, asked: boolean) {
      let one = held.get(of.series)?.byKey.get(of.key) ?? null;
      if (one === null || one.day !== unixDay(tx.at)) one = load(tx, of);
      if (one === null) return;
      const hour = hourIn(tx.at);
      const n = (one.hours[hour] ?? 0) + 1;
      one.hours[hour] = n;
      if (tx.at - one.last > one.gap) {
        downs ??= readDowntimes(tx);
        one.gap = Math.max(one.gap, downs.pause(one.last, tx.at));
      }
      one.last = tx.at;
      one.unwritten++;
      if (one.waitsSince === null) {
        one.waitsSince = tx.at;
        one.isAsked = asked;
        waiting.set(one, of);
      }
      if (asked && (one.unwritten * ONE_IN >= n || isOver(one.writtenAt, tx.at)))
        touched.set(one, of);
    },
    /** The day's count of each hour, with what isn't written yet; null where nothing came. */
    hoursOf(reader: Reader, of: CountedBy, day: number): readonly number[] | null {
      const one = held.get(of.series)?.byKey.get(of.key);
      return one?.day === day ? one.hours : (readHours(reader, of, day)?.hours ?? null);
    },
    /** The project's series of a selection; a new one counts `since` then. */
    series(tx: Tx, of: { projectId: number; selection: string; since: number }): CountSeries {
      const ofProject = known.get(of.projectId) ?? new Map<string, CountSeries>();
      known.set(of.projectId, ofProject);
      let one = ofProject.get(of.selection);
      if (one === undefined) {
        one = beginSeries(tx, of);
        ofProject.set(of.selection, one);
        const { id, since } = one;
        const before = whose.get(id);
        // The store gives the id of a series that is gone to the next one: its project was deleted, or a sweep took it.
        if (before?.projectId !== of.projectId || before.since !== since) letGo(id);
        whose.set(id, { projectId: of.projectId, since });
      }
      return one;
    },
    /** The younger template is part of the older now. */
    merge(tx: Tx, projectId: number, merged: MergedTemplates) {
      for (const one of seriesOfProject(tx, projectId)) {
        for (const id of [merged.younger, merged.older]) release(tx, one, id);
        mergeHours(tx, one, merged);
      }
    },
    /** The end of a batch: writes some of what has waited for a minute. */
    flush(tx: Tx) {
      for (const [one, of] of touched) save(tx, of, one);
      let [asked, others] = [0, 0];
      for (const [one, of] of waiting) {
        if (!isOver(one.waitsSince ?? 0, tx.at)) return;
        if (one.isAsked ? ++asked > MOST_ASKED : ++others > MOST_WRITTEN) return;
        save(tx, of, one);
      }
    },
    /** Whether something waits for that. */
    waitsAt(at: number): boolean {
      for (const { waitsSince } of waiting.keys()) return isOver(waitsSince ?? 0, at);
      return false;
    },
    finish,
    isWritten: () => waiting.size === 0,
    /** Series are looked up anew. */
    forgetSeries: (projectId: number) => void known.delete(projectId),
    /** Counts that were over the limit of a day. */
    get overflowed() {
      return overflowed;
    },
    /** The box was off: its downtimes are read again. */
    forgetDowntimes() {
      downs = null;
    },
    /** After a rollback, or a jump of the clock; unwritten counts, at most those of a minute, are lost. */
    clear() {
      drop();
      whose.clear();
      known.clear();
      downs = null;
    },
  };
}
