import type { Reader } from "../../ground/store/store.ts";
import { holidayDays } from "./holiday-days.ts";
import { listOverrides } from "./overrides.ts";
import { readSchedule } from "./roster.ts";
import type { Schedule, StoredSchedule } from "./schedule.ts";

/** Pieces of a schedule that are looked at. */
const MOST_PIECES = 5_000;

interface Stretch {
  from: number;
  until: number;
}

/** Everybody who has a stretch of a schedule from its beginning to its end. */
export function holdersOfStretch(schedule: Schedule, stretch: Stretch): string[] {
  return whoHas(schedule, stretch).holders;
}

/** Who has it alone, which one override can give to another; null: nobody, or more than one. */
export function holderOfStretch(schedule: Schedule, stretch: Stretch): string | null {
  const { holders, isShared } = whoHas(schedule, stretch);
  return isShared ? null : (holders[0] ?? null);
}

function whoHas(schedule: Schedule, { from, until }: Stretch) {
  const pieceAt = readSchedule(schedule);
  let holders = [...pieceAt(from).accounts];
  let isShared = false;
  let at = from;
  for (let looked = 0; at < until; looked += 1) {
    const piece = pieceAt(at);
    if (looked === MOST_PIECES) return { holders: [], isShared };
    holders = holders.filter((account) => piece.accounts.includes(account));
    isShared ||= piece.accounts.length > 1;
    at = piece.until;
  }
  return { holders, isShared };
}

/** With all its overrides. */
export const followed = (reader: Reader, stored: StoredSchedule): Schedule => ({
  ...stored,
  overrides: listOverrides(reader, stored),
  holidays: holidayDays(reader, stored.layers),
});
