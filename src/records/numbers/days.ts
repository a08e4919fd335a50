import { DAY, type Zone } from "../../core/oncall/zone.ts";

/** Days, weeks, months and nights on somebody's clock. Days are counted from 1 January 1970, a Thursday. Pure. */

export const localDay = (zone: Zone, at: number): number =>
  Math.floor((at + zone.offsetAt(at)) / DAY);

/** When a day begins, Unix seconds. */
export const beginOf = (zone: Zone, day: number): number => zone.first(day * DAY);

/** 0 is Monday. */
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

export const mondayOf = (day: number): number => day - weekdayOf(day);

const dateOf = (day: number): Date => new Date(day * DAY * 1000);

/** `2026-11-23`. */
export const dateText = (day: number): string => dateOf(day).toISOString().slice(0, 10);

/** Months since January 1970. */
export const monthOf = (day: number): number => {
  const date = dateOf(day);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
};

export const firstDayOf = (month: number): number => Date.UTC(1970, month, 1) / 1000 / DAY;

/** The hour of the week, 0 is Monday 00:00. */
export function hourOfWeek(zone: Zone, at: number): number {
  const civil = at + zone.offsetAt(at);
  const day = Math.floor(civil / DAY);
  return weekdayOf(day) * 24 + Math.floor((civil - day * DAY) / 3600);
}

/** From 22:00 to 07:00, and all of Saturday and Sunday. */
export function isNight(zone: Zone, at: number): boolean {
  const hour = hourOfWeek(zone, at);
  return hour >= 5 * 24 || hour % 24 >= 22 || hour % 24 < 7;
}

/** The night that a time from 23:00 to 06:00 is in, by the day on which it began; null: by day. */
export function sleepOf(zone: Zone, at: number): number | null {
  const hour = hourOfWeek(zone, at) % 24;
  return hour >= 23 || hour < 6 ? Math.floor((at + zone.offsetAt(at) - 6 * 3600) / DAY) : null;
}

/** Days from `from` up to and with `to`. */
export interface Days {
  from: number;
  to: number;
}
