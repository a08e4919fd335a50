import { DAY, type Zone } from "../../../core/oncall/zone.ts";
import type { WeekWindow } from "./windows.ts";

/** A turn's people, by email; []: none of them is imported. null: nobody, on purpose. */
export type GivenTurn = readonly string[] | null;

/** People who take turns in another system: a turn may have several people, or none. */
export interface GivenRotation {
  name: string;
  turns: readonly GivenTurn[];
  /** Unix seconds at which the first turn begins. */
  start: number;
  shiftMinutes: number;
  /** The hours in which it applies; []: always. */
  windows: readonly WeekWindow[];
  /** A higher level replaces lower ones while it has anybody. People of the same level are on call together. */
  level: number;
  /** The zone of its days and windows. */
  zone: string;
  /** Its id in its own system. */
  id: string;
}

/** Unix seconds at which turn `n` (may be below 0) begins. Whole days follow the zone's clocks. */
export function handover({ start, shiftMinutes }: GivenRotation, zone: Zone, n: number): number {
  const step = shiftMinutes * 60;
  if (n === 0) return start;
  if (step % DAY !== 0) return start + n * step;
  return zone.first(start + zone.offsetAt(start) + n * step);
}

/** The number of the turn at a time (Unix seconds). */
export function turnAt(rotation: GivenRotation, zone: Zone, at: number): number {
  let turn = Math.floor((at - rotation.start) / (rotation.shiftMinutes * 60));
  while (handover(rotation, zone, turn) > at) turn -= 1;
  while (handover(rotation, zone, turn + 1) <= at) turn += 1;
  return turn;
}

/** The same rotation, counted from turn `n` on. */
export function toldFrom(rotation: GivenRotation, zone: Zone, n: number): GivenRotation {
  const { turns } = rotation;
  const first = ((n % turns.length) + turns.length) % turns.length;
  return {
    ...rotation,
    start: handover(rotation, zone, n),
    turns: [...turns.slice(first), ...turns.slice(0, first)],
  };
}

/** The same rotation with a start no later than `at`. */
export function begunBy(rotation: GivenRotation, zone: Zone, at: number): GivenRotation {
  if (rotation.start <= at || rotation.turns.length === 0) return rotation;
  return toldFrom(rotation, zone, turnAt(rotation, zone, at));
}
