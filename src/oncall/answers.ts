import type { Reader } from "../store/store.ts";
import { icalendar } from "./calendar.ts";
import { listOverrides } from "./overrides.ts";
import { calendarShifts, nextOnCall, onCallAt, preview, type Schedule } from "./rotation.ts";
import type { StoredSchedule } from "./schedules.ts";

/** What `…/current` answers (decisions §3). */
export type Current =
  | {
      on_call: true;
      account_id: string;
      email: string;
      schedule: string;
      layer: string | null;
      override_id: string | null;
      starts_at: number;
      ends_at: number | null;
    }
  | { on_call: false; next: { account_id: string; email: string; starts_at: number } | null };

/** Who is on call at `at`. A removed account is nobody (its email is gone with it). */
export function currentOnCall(reader: Reader, stored: StoredSchedule, at: number): Current {
  const schedule = evaluated(reader, stored);
  const duty = onCallAt(schedule, at);
  const email = duty === null ? null : emailOf(reader, duty.account_id);
  if (duty !== null && email !== null)
    return { on_call: true, ...duty, email, schedule: stored.name };
  const next = nextOnCall(schedule, at);
  const nextEmail = next === null ? null : emailOf(reader, next.account_id);
  return {
    on_call: false,
    next:
      next === null || nextEmail === null
        ? null
        : { account_id: next.account_id, email: nextEmail, starts_at: next.starts_at },
  };
}

export interface PreviewAnswer {
  shifts: {
    account_id: string;
    email: string;
    starts_at: number;
    ends_at: number;
    layer: string | null;
    override_id: string | null;
  }[];
  gaps: { starts_at: number; ends_at: number }[];
  /** How far the answer reaches: before the asked end only where the schedule changes very often. */
  until: number;
}

export function previewOnCall(
  reader: Reader,
  stored: StoredSchedule,
  range: { from: number; until: number },
): PreviewAnswer {
  const { shifts, gaps, until } = preview(evaluated(reader, stored), range.from, range.until);
  return {
    shifts: shifts.map((shift) => ({ ...shift, email: emailOf(reader, shift.account_id) ?? "" })),
    gaps,
    until,
  };
}

const DAY = 86_400;

/** The schedule as a calendar: 30 days back and 180 ahead (decisions §5). */
export function calendarOf(reader: Reader, stored: StoredSchedule, at: number): string {
  const shifts = calendarShifts(evaluated(reader, stored), at - 30 * DAY, at + 180 * DAY);
  return icalendar({
    schedule_id: stored.id,
    schedule_name: stored.name,
    made_at: at,
    shifts: shifts.map((shift) => ({
      ...shift,
      email: emailOf(reader, shift.account_id) ?? shift.account_id,
    })),
  });
}

function evaluated(reader: Reader, stored: StoredSchedule): Schedule {
  return {
    timezone: stored.timezone,
    layers: stored.layers,
    overrides: listOverrides(reader, stored),
  };
}

function emailOf(reader: Reader, accountId: string): string | null {
  return (
    (reader.sql("SELECT email FROM accounts WHERE id = ?").pluck().get(accountId) as
      | string
      | undefined) ?? null
  );
}
