import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../../ground/kit/ids.ts";
import { mustBeFewer, rowsCounted } from "../../ground/store/rows-counted.ts";
import { calendars, projects, schedules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { scheduleNamed } from "../projects/schedule-names.ts";
import type { CalendarEntry, CalendarWish, StoredSchedule } from "./schedule.ts";
import { findSchedule, scheduleById } from "./schedules.ts";

/** Addresses that calendar programs follow: whoever knows one reads that calendar and nothing else. */

/** Of one person. */
export const MOST_CALENDARS = 100;

/** By what they show, the person's own shifts first. */
export function listCalendars(reader: Reader, accountId: string): CalendarEntry[] {
  return reader.orm
    .select({
      id: calendars.id,
      schedule: sql<string | null>`${projects.name} || '/' || ${schedules.name}`,
      created_at: calendars.createdAt,
    })
    .from(calendars)
    .leftJoin(schedules, eq(schedules.id, calendars.scheduleId))
    .leftJoin(projects, eq(projects.id, schedules.projectId))
    .where(eq(calendars.accountId, accountId))
    .orderBy(asc(projects.name), asc(schedules.name))
    .all();
}

/** What stands in an address. */
export const CALENDAR_SECRET = /^[0-9A-Za-z]{22}$/;

/**
 * Makes the person's address of a calendar; where there is one it is another from the commit on. The secret is only ever in
 * this answer. Throws 422 for a schedule that there isn't, and for one address too many.
 */
export function makeCalendar(tx: Tx, accountId: string, { schedule }: CalendarWish) {
  const scheduleId = schedule === undefined ? null : idOfSchedule(tx, schedule);
  const own = and(
    eq(calendars.accountId, accountId),
    scheduleId === null ? isNull(calendars.scheduleId) : eq(calendars.scheduleId, scheduleId),
  );
  const secret = base62Secret(tx.random, 22);
  const to = { hash: sha256(secret), createdAt: tx.at };
  const there = tx.orm.update(calendars).set(to).where(own).returning({ id: calendars.id }).get();
  const id = there?.id ?? hexId(tx.random);
  if (there === undefined) {
    const held = rowsCounted(tx, calendars, eq(calendars.accountId, accountId));
    mustBeFewer(held, MOST_CALENDARS, { whose: "A person", what: "calendar addresses" });
    tx.orm
      .insert(calendars)
      .values({ id, accountId, scheduleId, ...to })
      .run();
  }
  tx.note({ topic: "calendars" });
  return { entry: { id, schedule: schedule ?? null, created_at: tx.at }, secret };
}

/** Throws 404. */
export function revokeCalendar(tx: Tx, accountId: string, id: string): void {
  const { changes } = tx.orm
    .delete(calendars)
    .where(and(eq(calendars.accountId, accountId), eq(calendars.id, id)))
    .run();
  if (changes === 0) throw notFound("calendar");
  tx.note({ topic: "calendars" });
}

/** What an address shows: all of a schedule, or one person's shifts. */
export interface FoundCalendar {
  id: string;
  accountId: string;
  /** null: the person's own shifts. */
  schedule: StoredSchedule | null;
}

/** Null for an address that never was or is no longer; `hash` is the SHA-256 of its secret. */
export function findCalendar(reader: Reader, hash: string): FoundCalendar | null {
  const row = reader.orm.select().from(calendars).where(eq(calendars.hash, hash)).get();
  if (row === undefined) return null;
  const { id, accountId, scheduleId } = row;
  return { id, accountId, schedule: scheduleId === null ? null : scheduleById(reader, scheduleId) };
}

function idOfSchedule(reader: Reader, name: string): string {
  const place = name.includes("/") ? scheduleNamed(reader, { projectId: 0, name }) : null;
  const found = place && findSchedule(reader, { id: place.projectId }, place.name);
  if (found) return found.id;
  throw new ServiceError("unknown_schedule", "There is no such schedule.", {
    details: [{ field: "/schedule", reason: "unknown_schedule", value: name }],
  });
}
