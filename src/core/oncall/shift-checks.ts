import { and, asc, eq, isNotNull, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import {
  handOvers,
  overrides,
  projects,
  schedules,
  shiftChecks,
} from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { hasUnseenCheck, onCallNow } from "./duty.ts";
import type { HandOver } from "./hand-over.ts";
import { holidayDays } from "./holiday-days.ts";
import type { Layer, Schedule } from "./schedule.ts";
import { CHECK_SECONDS, type ShiftBegin } from "./shift-check.ts";

/** The checks that were made, and which schedules are looked at when. */

/** How long a check is kept once its shift is over, in seconds. */
const KEPT = 7 * 86_400;

/** A schedule was made or changed: its shifts are looked at anew. */
export function lookAtShifts(tx: Tx, scheduleId: string): void {
  tx.orm.update(schedules).set({ checkAt: 0 }).where(eq(schedules.id, scheduleId)).run();
  tx.note({ topic: "oncall" });
}

/** The same for all: the clock jumped. */
export function lookAtAllShifts(tx: Tx): void {
  tx.orm.update(schedules).set({ checkAt: 0 }).run();
  tx.note({ topic: "oncall" });
}

/** Ids of the schedules that are to be looked at now. */
export function schedulesToLookAt(reader: Reader, now: number): string[] {
  const rows = reader.orm
    .select({ id: schedules.id })
    .from(schedules)
    .where(lte(schedules.checkAt, now))
    .orderBy(asc(schedules.checkAt))
    .all();
  return rows.map(({ id }) => id);
}

export function lookAgainAtShifts(tx: Tx, scheduleId: string, at: number): void {
  tx.orm.update(schedules).set({ checkAt: at }).where(eq(schedules.id, scheduleId)).run();
}

/** A schedule with all that decides who has it. `isChecked`: its shifts are; `isHandedOver`: people are told of its hand-overs. */
interface LookedAt extends Schedule {
  name: string;
  project: { id: number; name: string };
  isChecked: boolean;
  isHandedOver: boolean;
}

/** Null once it is gone. */
export function scheduleToCheck(reader: Reader, id: string): LookedAt | null {
  const { name, timezone, shiftCheck, handOver } = schedules;
  const project = { id: projects.id, name: projects.name };
  const row = reader.orm
    .select({ name, project, timezone, layers: schedules.layers, shiftCheck, handOver })
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(eq(schedules.id, id))
    .get();
  if (row === undefined) return null;
  const rows = reader.orm
    .select({
      id: overrides.id,
      account_id: overrides.accountId,
      starts_at: overrides.startsAt,
      ends_at: overrides.endsAt,
    })
    .from(overrides)
    .where(eq(overrides.scheduleId, id))
    .orderBy(sql`rowid`)
    .all();
  const layers = JSON.parse(row.layers) as Layer[];
  return {
    name: row.name,
    project: row.project,
    timezone: row.timezone,
    layers,
    holidays: holidayDays(reader, layers),
    overrides: rows,
    isChecked: row.shiftCheck,
    isHandedOver: row.handOver,
  };
}

/** Whether people are told of any schedule's hand-overs. */
export const wantsHandOvers = (reader: Reader): boolean =>
  reader.orm
    .select({ id: schedules.id })
    .from(schedules)
    .where(eq(schedules.handOver, true))
    .limit(1)
    .get() !== undefined;

/** Writes that people are told of a hand-over now; false where that was done before. */
export function notesHandOver(tx: Tx, scheduleId: string, { at, from, to }: HandOver): boolean {
  const isOld = and(eq(handOvers.scheduleId, scheduleId), lt(handOvers.at, tx.at - KEPT));
  tx.orm.delete(handOvers).where(isOld).run();
  const { changes } = tx.orm
    .insert(handOvers)
    // Several may go at once and nobody come.
    .values({ scheduleId, at, toId: to ?? `-${from ?? ""}` })
    .onConflictDoNothing()
    .run();
  return changes > 0;
}

/** Writes that a shift is checked now; its id, or null where that was done before. */
export function askShift(tx: Tx, scheduleId: string, begin: ShiftBegin): number | null {
  const { account_id, before, starts_at, ends_at } = begin;
  const made = tx.orm
    .insert(shiftChecks)
    .values({
      scheduleId,
      accountId: account_id,
      beforeId: before,
      startsAt: starts_at,
      endsAt: ends_at,
      askedAt: tx.at,
      dueAt: tx.at + CHECK_SECONDS,
    })
    .onConflictDoNothing()
    .returning({ id: shiftChecks.id })
    .get();
  return made?.id ?? null;
}

/**
 * A device of the person showed something that was sent then (Unix seconds): what was asked of them before is answered, and so is
 * `shift`, which it was about, whatever the clock was set to since.
 */
export function answerShifts(
  tx: Tx,
  { account, sentAt, shift }: { account: string; sentAt: number; shift: number | null },
): void {
  const isOwn = shift === null ? undefined : eq(shiftChecks.id, shift);
  const { changes } = tx.orm
    .update(shiftChecks)
    .set({ seenAt: tx.at, dueAt: null })
    .where(
      and(
        eq(shiftChecks.accountId, account),
        isNull(shiftChecks.seenAt),
        or(isOwn, lte(shiftChecks.askedAt, sentAt)),
        or(isNull(shiftChecks.endsAt), sql`${shiftChecks.endsAt} > ${tx.at}`),
      ),
    )
    .run();
  if (changes > 0) tx.note({ topic: "oncall" });
}

/** What nobody showed in time is told of from now on; what is long over is forgotten. */
export function processDueShifts(tx: Tx): void {
  const { changes } = tx.orm
    .update(shiftChecks)
    .set({ dueAt: null })
    .where(and(isNotNull(shiftChecks.dueAt), lte(shiftChecks.dueAt, tx.at)))
    .run();
  tx.orm
    .delete(shiftChecks)
    .where(lt(shiftChecks.endsAt, tx.at - KEPT))
    .run();
  if (changes > 0) tx.note({ topic: "oncall" });
}

/** When the time of the next check that was made is over; null: none waits. */
export function nextShiftDue(reader: Reader): number | null {
  const row = reader.orm
    .select({ at: sql<number | null>`min(${shiftChecks.dueAt})` })
    .from(shiftChecks)
    .where(isNotNull(shiftChecks.dueAt))
    .get();
  return row?.at ?? null;
}

/** When a schedule is to be looked at next; null: there is none. */
export function nextShiftLook(reader: Reader): number | null {
  const at = sql<number | null>`min(${schedules.checkAt})`;
  return reader.orm.select({ at }).from(schedules).get()?.at ?? null;
}

/** A shift whose begin was checked. */
export interface CheckedShift {
  id: number;
  accountId: string;
  /** Who had it until then. */
  beforeId: string | null;
  project: string;
  projectId: number;
  schedule: string;
  timezone: string;
  startsAt: number;
  endsAt: number | null;
  askedAt: number;
}

const checked = {
  id: shiftChecks.id,
  accountId: shiftChecks.accountId,
  beforeId: shiftChecks.beforeId,
  project: projects.name,
  projectId: projects.id,
  schedule: schedules.name,
  timezone: schedules.timezone,
  startsAt: shiftChecks.startsAt,
  endsAt: shiftChecks.endsAt,
  askedAt: shiftChecks.askedAt,
};

const checkedShifts = (reader: Reader) =>
  reader.orm
    .select(checked)
    .from(shiftChecks)
    .innerJoin(schedules, eq(schedules.id, shiftChecks.scheduleId))
    .innerJoin(projects, eq(projects.id, schedules.projectId));

/** null once its schedule is gone. */
export function findCheckedShift(reader: Reader, id: number): CheckedShift | null {
  return checkedShifts(reader).where(eq(shiftChecks.id, id)).get() ?? null;
}

/** Shifts that run, or begin soon, of people whose devices showed nothing in time; oldest first. */
export function unconfirmedShifts(reader: Reader, now: number): CheckedShift[] {
  // Each page asks, mostly where no check waits for anybody.
  if (!hasUnseenCheck(reader, now)) return [];
  const rows = checkedShifts(reader)
    .where(
      and(
        isNull(shiftChecks.seenAt),
        isNull(shiftChecks.dueAt),
        or(isNull(shiftChecks.endsAt), sql`${shiftChecks.endsAt} > ${now}`),
      ),
    )
    .orderBy(asc(shiftChecks.id))
    .all();
  // Who was relieved since has nothing to show.
  return rows.filter(({ accountId, projectId, schedule, startsAt }) =>
    onCallNow(reader, { projectId, name: schedule }, Math.max(now, startsAt)).includes(accountId),
  );
}

/** Moves what waits by a jump of the clock (seconds, either way). */
export function shiftShiftChecks(tx: Tx, seconds: number): void {
  moveWaiting(tx, { dueAt: sql`${shiftChecks.dueAt} + ${seconds}` });
  moveWaiting(tx, { askedAt: sql`${shiftChecks.askedAt} + ${seconds}` });
}

/** Takes the seconds before this start out of the time to show it: nobody could say so in them. */
export function forgiveShiftChecks(tx: Tx, seconds: number): void {
  moveWaiting(tx, { dueAt: sql`${shiftChecks.dueAt} + ${seconds}` });
}

function moveWaiting(tx: Tx, set: { dueAt: SQL } | { askedAt: SQL }): void {
  tx.orm.update(shiftChecks).set(set).where(isNotNull(shiftChecks.dueAt)).run();
}
