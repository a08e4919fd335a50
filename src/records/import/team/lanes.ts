import type { GivenRotation } from "./rotation.ts";
import { areApart, joinedWindows, movedWindow, type WeekWindow } from "./windows.ts";

/** A layer of a schedule here. Participants are emails; null: nobody. */
export interface PlannedLayer {
  name: string;
  participants: (string | null)[];
  rotation_start: number;
  shift_minutes: number;
  restriction: WeekWindow | null;
}

/** One schedule here. Another system's schedule may become several, because here each has one person on call. */
export interface SeatLane {
  zone: string;
  layers: PlannedLayer[];
  /** Ids of its rotations. */
  rotations: string[];
}

/** A rotation with one person, or nobody, in each turn. */
interface Track extends Omit<GivenRotation, "turns"> {
  participants: (string | null)[];
}

/**
 * Splits rotations into schedules which together have the same people on call. In the other system a level replaces
 * those below it, in all schedules: so above the lowest level each schedule also has the level's other people, as
 * layers under its own. `apart`: rotations whose windows never overlap may share a schedule.
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

/** Tracks that may be on call at the same time go into different slots. */
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

/**
 * As many tracks as people may be on call at once. In a turn with fewer people they are in several tracks. A turn whose
 * people aren't imported goes to the people of the next one; nobody stays nobody.
 */
function tracksOf({ turns, ...rest }: GivenRotation): Track[] {
  const filled = filledTurns(turns);
  const most = Math.max(0, ...filled.map((turn) => turn?.length ?? 0));
  return Array.from({ length: most }, (_, i) => ({
    ...rest,
    participants: filled.map((turn) => turn && (turn[i % turn.length] ?? "")),
  }));
}

/** Gives each turn whose people aren't imported to the people of the next one. [] where nobody is left. */
function filledTurns(turns: GivenRotation["turns"]): GivenRotation["turns"] {
  if (!turns.some((turn) => turn?.length)) return [];
  return turns.map((own, i) => {
    if (own === null) return null;
    for (let n = i; ; n += 1) {
      const turn = turns[n % turns.length];
      if (turn?.length) return turn;
    }
  });
}

/** Gives layers of the same name different names. */
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

/** The rotation in another zone, whose clocks are `ahead` minutes ahead. */
export function inOtherZone(rotation: GivenRotation, zone: string, ahead: number): GivenRotation {
  return {
    ...rotation,
    zone,
    windows: rotation.windows.map((window) => movedWindow(window, ahead)),
  };
}
