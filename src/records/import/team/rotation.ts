import { DAY, type Zone } from "../../../core/oncall/zone.ts";
import type { WeekWindow } from "./windows.ts";

/** People taking turns, as other systems have it: several at once, and turns of nobody. */
export interface GivenRotation {
  name: string;
  /** Emails of whoever has each turn; an empty one is nobody's. */
  turns: readonly (readonly string[])[];
  /** When the first turn begins, Unix seconds. */
  start: number;
  shiftMinutes: number;
  /** When it counts, any of; none: always. */
  windows: readonly WeekWindow[];
  /** A higher one beats those below where it has anybody; those of one level are on call together. */
  level: number;
  /** Whose days and windows are meant. */
  zone: string;
  /** As its own system calls it. */
  id: string;
}

/** When turn `n` begins; below 0: before its own start. Whole days follow the zone's clocks, as the box has it. */
export function handover({ start, shiftMinutes }: GivenRotation, zone: Zone, n: number): number {
  const step = shiftMinutes * 60;
  if (n === 0) return start;
  if (step % DAY !== 0) return start + n * step;
  return zone.first(start + zone.offsetAt(start) + n * step);
}

/** The turn that is under way at a time, Unix seconds. */
export function turnAt(rotation: GivenRotation, zone: Zone, at: number): number {
  let turn = Math.floor((at - rotation.start) / (rotation.shiftMinutes * 60));
  while (handover(rotation, zone, turn) > at) turn -= 1;
  while (handover(rotation, zone, turn + 1) <= at) turn += 1;
  return turn;
}

/** The same turns at the same times, told from turn `n` on. */
export function toldFrom(rotation: GivenRotation, zone: Zone, n: number): GivenRotation {
  const { turns } = rotation;
  const first = ((n % turns.length) + turns.length) % turns.length;
  return {
    ...rotation,
    start: handover(rotation, zone, n),
    turns: [...turns.slice(first), ...turns.slice(0, first)],
  };
}

/** The same turns, begun by `at`: what begins later is told from an earlier turn on. */
export function begunBy(rotation: GivenRotation, zone: Zone, at: number): GivenRotation {
  if (rotation.start <= at || rotation.turns.length === 0) return rotation;
  return toldFrom(rotation, zone, turnAt(rotation, zone, at));
}
