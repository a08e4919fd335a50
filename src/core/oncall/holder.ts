import type { Reader } from "../../ground/store/store.ts";
import { holidayDays } from "./holiday-days.ts";
import { listOverrides } from "./overrides.ts";
import { readSchedule } from "./roster.ts";
import type { Schedule, StoredSchedule } from "./schedule.ts";

/** Pieces of a schedule that are looked at. */
const MOST_PIECES = 5_000;

/** Who alone has a stretch of a schedule from its beginning to its end; null: nobody, or more than one. */
export function holderOfStretch(
  schedule: Schedule,
  { from, until }: { from: number; until: number },
): string | null {
  const pieceAt = readSchedule(schedule);
  const holder = pieceAt(from).account_id;
  let at = from;
  for (let looked = 0; at < until; looked += 1) {
    const piece = pieceAt(at);
    if (looked === MOST_PIECES || piece.account_id !== holder) return null;
    at = piece.until;
  }
  return holder;
}

/** With all its overrides. */
export const followed = (reader: Reader, stored: StoredSchedule): Schedule => ({
  ...stored,
  overrides: listOverrides(reader, stored),
  holidays: holidayDays(reader, stored.layers),
});
