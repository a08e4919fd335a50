import type { GivenRotation } from "./rotation.ts";
import { areApart, joinedWindows, movedWindow, type WeekWindow } from "./windows.ts";

/** A layer of the box's schedule; participants are emails. */
export interface PlannedLayer {
  name: string;
  participants: string[];
  rotation_start: number;
  shift_minutes: number;
  restriction: WeekWindow | null;
}

/** One of the schedules that a schedule of elsewhere becomes: the box has one person on call in each. */
export interface SeatLane {
  zone: string;
  layers: PlannedLayer[];
  /** Ids of the rotations that are in it. */
  rotations: string[];
}

/** A rotation with one person a turn. */
interface Track extends Omit<GivenRotation, "turns"> {
  participants: string[];
}

/**
 * The schedules that have on call together whom the rotations do. At a level that has others below, each has the level's other
 * people as layers under its own: whoever is above hides all that is below in every one of them. `apart`: rotations whose windows
 * never meet may share one.
 */
export function lanesOf(
  rotations: readonly GivenRotation[],
  { apart }: { apart: boolean },
): SeatLane[] {
  const zones = [...new Set(rotations.map(({ zone }) => zone))];
  const levels = [...new Set(rotations.map(({ level }) => level))].sort((a, b) => a - b);
  if (zones.length > 1 && levels.length === 1)
    return zones.flatMap((zone) =>
      lanesOf(
        rotations.filter((one) => one.zone === zone),
        { apart },
      ),
    );
  const slots = levels.map((level) =>
    slotsOf(
      rotations.filter((one) => one.level === level),
      apart,
    ),
  );
  const count = Math.max(0, ...slots.map(({ length }) => length));
  return Array.from({ length: count }, (_, lane) => {
    const own = slots.flatMap((at, place) => {
      const mine = at[lane] ?? [];
      return place === 0 ? mine : [...at.filter((_one, i) => i !== lane).flat(), ...mine];
    });
    return {
      zone: zones[0] ?? "UTC",
      layers: named(own).flatMap(layersOf),
      rotations: [...new Set(own.map(({ id }) => id))],
    };
  });
}

/** Tracks that may be on call at the same time are in different slots. */
function slotsOf(rotations: readonly GivenRotation[], apart: boolean): Track[][] {
  const slots: Track[][] = [];
  for (const track of rotations.flatMap(tracksOf)) {
    const isFree = (slot: Track[]) => slot.every((one) => areApart(one.windows, track.windows));
    const slot = apart ? slots.find(isFree) : undefined;
    if (slot === undefined) slots.push([track]);
    else slot.push(track);
  }
  return slots;
}

/** One for each who may be on call at once. A turn with fewer has its people in the others as well; nobody's turn goes to whoever is next. */
function tracksOf({ turns, ...rest }: GivenRotation): Track[] {
  const filled = filledTurns(turns);
  const most = Math.max(0, ...filled.map(({ length }) => length));
  return Array.from({ length: most }, (_, i) => ({
    ...rest,
    participants: filled.map((turn) => turn[i % turn.length] ?? ""),
  }));
}

/** With nobody's turns given to whoever has the next; none where nobody has any. */
export function filledTurns(turns: GivenRotation["turns"]): GivenRotation["turns"] {
  if (turns.every(({ length }) => length === 0)) return [];
  return turns.map((_turn, i) => {
    for (let n = i; ; n += 1) {
      const turn = turns[n % turns.length] ?? [];
      if (turn.length > 0) return turn;
    }
  });
}

/** Layers of one name are told apart. */
function named(tracks: readonly Track[]): Track[] {
  const given = new Map<string, number>();
  return tracks.map((track) => {
    const n = (given.get(track.name) ?? 0) + 1;
    given.set(track.name, n);
    return n === 1 ? track : { ...track, name: `${track.name} · ${n}` };
  });
}

function layersOf({ name, participants, start, shiftMinutes, windows }: Track): PlannedLayer[] {
  const joined = joinedWindows(windows);
  const restrictions = joined.length === 0 ? [null] : joined;
  return restrictions.map((restriction, i) => ({
    name: [...(i === 0 ? name : `${name} (${i + 1})`)].slice(0, 128).join(""),
    participants: new Set(participants).size === 1 ? participants.slice(0, 1) : participants,
    rotation_start: start,
    shift_minutes: shiftMinutes,
    restriction,
  }));
}

/** The rotation as if its zone were another, whose clocks are so many minutes ahead. */
export function inOtherZone(rotation: GivenRotation, zone: string, ahead: number): GivenRotation {
  return {
    ...rotation,
    zone,
    windows: rotation.windows.map((window) => movedWindow(window, ahead)),
  };
}
