import type { Reader } from "../../ground/store/store.ts";
import { type SchedulePlace, scheduleNamed } from "../projects/schedule-names.ts";
import { holidayDays } from "./holiday-days.ts";
import { type RosterPiece, readSchedule } from "./roster.ts";
import { isOffAt, whoIsOnCall } from "./rotation.ts";
import { type Covers, type Layer, type Override, peopleOfLayers } from "./schedule.ts";

interface ScheduleRow {
  id: string;
  timezone: string;
  layers: string;
  covers: Covers;
}

const SCHEDULE =
  "SELECT id, timezone, layers, covers FROM schedules WHERE project_id = ? AND name = ?";
const OVERRIDES = `SELECT id, account_id, starts_at, ends_at FROM overrides
  WHERE schedule_id = ? AND starts_at <= ? AND ends_at > ? ORDER BY rowid`;

/**
 * The accounts that the schedule of this name, as a ladder of the project names it, has on call at `at` (Unix seconds); none where nobody is or
 * there is no such schedule. One may have been removed since (contract §5, Ladder).
 */
export function onCallNow(reader: Reader, schedule: SchedulePlace, at: number): readonly string[] {
  return dutyAt(reader, schedule, at)?.onDuty ?? [];
}

/** Whether any schedule has this account on call at `at` (Unix seconds). */
export function hasDuty(reader: Reader, account: string, at: number): boolean {
  return reader
    .sql<[], SchedulePlace>("SELECT project_id AS projectId, name FROM schedules")
    .all()
    .some((schedule) => onCallNow(reader, schedule, at).includes(account));
}

/** To look for an id in the text of the layers is quicker than to read them: most schedules don't have it. */
const WITH = `SELECT id FROM schedules s WHERE (instr(layers, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(s.layers) l,
    json_each(l.value, '$.participants') a WHERE a.value = ?))
  OR EXISTS (SELECT 1 FROM overrides WHERE schedule_id = s.id AND account_id = ? AND ends_at > ?)`;

/** Schedules in which this account takes turns, or has an override that ends after `at`: each page of alerts asks. */
export function idsOfSchedulesWith(reader: Reader, account: string, at: number): string[] {
  return reader
    .sql<[string, string, string, number], string>(WITH)
    .pluck()
    .all(account, account, account, at);
}

const UNSEEN = `SELECT 1 FROM shift_checks
  WHERE seen_at IS NULL AND due_at IS NULL AND (ends_at IS NULL OR ends_at > ?) LIMIT 1`;

/** Whether anybody whose shift runs, or begins soon, showed nothing in time: each page asks, and mostly nobody is. */
export function hasUnseenCheck(reader: Reader, now: number): boolean {
  return reader.sql<[number]>(UNSEEN).get(now) !== undefined;
}

/** Who had duty, who would have had it without overrides, and everybody who takes turns. */
export interface DutyAt {
  onDuty: readonly string[];
  planned: readonly string[];
  participants: string[];
  /** Nobody has it, and nobody was promised: the schedule covers hours, and it is outside of them. */
  off: boolean;
}

/** As `onCallNow`, with those who were not on call; null where there is no such schedule. */
export function dutyAt(reader: Reader, schedule: SchedulePlace, at: number): DutyAt | null {
  const row = findRow(reader, schedule);
  if (row === null) return null;
  const overrides = reader.sql<[string, number, number], Override>(OVERRIDES).all(row.id, at, at);
  const layers = JSON.parse(row.layers) as Layer[];
  const { timezone, covers } = row;
  const holidays = holidayDays(reader, layers);
  const followed = { timezone, layers, overrides, covers, holidays };
  return {
    onDuty: whoIsOnCall(followed, at),
    get off() {
      return isOffAt(followed, at);
    },
    get planned() {
      return whoIsOnCall({ ...followed, overrides: [] }, at);
    },
    get participants() {
      return peopleOfLayers(layers);
    },
  };
}

function findRow(reader: Reader, schedule: SchedulePlace): ScheduleRow | null {
  const place = scheduleNamed(reader, schedule);
  if (place === null) return null;
  const row = reader
    .sql<[projectId: number, name: string], ScheduleRow>(SCHEDULE)
    .get(place.projectId, place.name);
  return row ?? null;
}

const EVERY_OVERRIDE = `SELECT id, account_id, starts_at, ends_at FROM overrides
  WHERE schedule_id = ? ORDER BY rowid`;

/** A schedule's seat at any time, asked from memory. */
export interface OnCallSeat {
  /** The piece of the final schedule around a time (Unix seconds). */
  at(at: number): RosterPiece;
  dutyAt(at: number): DutyAt;
  /** Everybody who may ever have it, those of overrides included. */
  people: string[];
}

/** Reads a schedule once, for as many times as are asked for; null where there is no such schedule. */
export function readSeat(reader: Reader, schedule: SchedulePlace): OnCallSeat | null {
  const row = findRow(reader, schedule);
  if (row === null) return null;
  const overrides = reader.sql<[string], Override>(EVERY_OVERRIDE).all(row.id);
  const layers = JSON.parse(row.layers) as Layer[];
  const participants = peopleOfLayers(layers);
  const { timezone, covers } = row;
  const holidays = holidayDays(reader, layers);
  const followed = { timezone, layers, overrides, covers, holidays };
  const at = readSchedule(followed);
  const plannedAt = readSchedule({ ...followed, overrides: [] });
  return {
    at,
    dutyAt: (when) => ({
      onDuty: at(when).accounts,
      planned: plannedAt(when).accounts,
      participants,
      off: at(when).isOff === true,
    }),
    people: [...new Set([...participants, ...overrides.map(({ account_id }) => account_id)])],
  };
}
