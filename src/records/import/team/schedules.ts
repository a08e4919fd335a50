import type { Schedule } from "../../../core/oncall/schedule.ts";
import { writeTime } from "../../config-file/written-time.ts";
import type { ImportReport } from "../importer.ts";
import { differencesBetween, differenceText, type ShiftOf, shiftsOf } from "./compare.ts";
import { lanesOf, type PlannedLayer, type SeatLane } from "./lanes.ts";
import type { GivenRotation } from "./rotation.ts";

/** Begins ids of an override's rotations that mean: the person is on call in addition, in a schedule of its own. */
export const ADDED = "+added";

/** A person in place of everybody in [from, until), Unix seconds. */
export interface GivenOverride {
  person: string;
  from: number;
  until: number;
  /** Ids of the rotations that it replaces; null: all. */
  rotations: readonly string[] | null;
}

/** Another system's schedule. */
export interface SchedulePlan {
  /** Its name in the report: `schedule Primary`. */
  what: string;
  name: string;
  zone: string;
  rotations: readonly GivenRotation[];
  /** Whether rotations that never overlap may share a schedule here. */
  apart: boolean;
  /** Where two overlap the later wins; with `together` both people are on call. */
  overrides: readonly GivenOverride[];
  together: boolean;
  /** The shifts that its own system calculated, in [from, until); null: not in the files. */
  theirs: { shifts: readonly ShiftOf[]; from: number; until: number } | null;
  /** How to get these shifts, for the report. */
  ask: string;
}

/** Shifts whose file doesn't say for which period it was asked: it is taken as first to last shift. */
export function theirShifts(shifts: readonly ShiftOf[]): SchedulePlan["theirs"] {
  if (shifts.length === 0) return null;
  const from = shifts.reduce((least, shift) => Math.min(least, shift.from), Infinity);
  return { shifts, from, until: shifts.reduce((most, shift) => Math.max(most, shift.until), 0) };
}

/** A schedule as a configuration file has it. */
export interface PlannedSchedule {
  name: string;
  timezone: string;
  layers: (Omit<PlannedLayer, "rotation_start"> & { rotation_start: string | number })[];
  overrides?: { person: string; starts_at: string | number; ends_at: string | number }[];
}

interface Around {
  now: number;
  title: string;
  report: ImportReport;
  /** Makes the name unique. */
  name(wanted: string): string;
}

const DAY = 86_400;
const COMPARED = 90 * DAY;
const LONGEST_OVERRIDE = 90 * DAY;
const MOST = { layers: 50, overrides: 1000, participants: 100, minutes: 5_256_000 } as const;
const SHOWN = 20;

export function planSchedule(plan: SchedulePlan, around: Around): PlannedSchedule[] {
  const { what, name } = plan;
  const say = around.report.about(what);
  const lanes = fitted(madeLanes(plan, say), say);
  const overrides = lanes.map((lane, i) =>
    overridesIn(lane, { plan, i, of: lanes.length, around, say }),
  );
  if (lanes.length > 1)
    say.nearly(
      `Up to ${lanes.length} people are on call at once, and a schedule here has one: it becomes ${lanes.length} schedules, which its ladders all name.`,
    );
  compare(plan, { lanes, overrides, around, say });
  return lanes.map((lane, i) => ({
    name: around.name(i === 0 ? name : `${name} · ${i + 1}`),
    timezone: lane.zone,
    layers: lane.layers.map((layer) => ({
      ...layer,
      rotation_start: writeTime(layer.rotation_start, lane.zone),
    })),
    ...(overrides[i]?.length
      ? {
          overrides: overrides[i].map(({ person, from, until }) => ({
            person,
            starts_at: writeTime(from, lane.zone),
            ends_at: writeTime(until, lane.zone),
          })),
        }
      : {}),
  }));
}

type Say = ReturnType<ImportReport["about"]>;

function madeLanes({ rotations, apart, zone, overrides }: SchedulePlan, say: Say): SeatLane[] {
  for (const { name, turns } of rotations) {
    const nobody = turns.filter((turn) => turn === null).length;
    const empty = turns.filter((turn) => turn?.length === 0).length;
    if (empty + nobody === turns.length)
      say.impossible(`Nobody of its rotation ${name} is imported, so it is left out.`);
    else if (empty > 0)
      say.nearly(
        `In its rotation ${name} ${empty} of ${turns.length} turns have nobody who is imported: these go to the person of the next one.`,
      );
  }
  const lanes = lanesOf(rotations, { apart });
  const wanted = new Set(overrides.flatMap(({ rotations: of }) => of ?? []));
  const extra = [...wanted].filter((id) => id.startsWith(ADDED));
  const all = [...lanes, ...extra.map((id) => ({ zone, layers: [], rotations: [id] }))];
  return all.length === 0 ? [{ zone, layers: [], rotations: [] }] : all;
}

/** Cuts the schedules to the box's limits. */
function fitted(lanes: readonly SeatLane[], say: Say): SeatLane[] {
  return lanes.map((lane) => {
    const over = lane.layers.slice(MOST.layers).map(({ name }) => name);
    if (over.length > 0)
      say.impossible(`It has more than ${MOST.layers} layers: ${over.join(", ")} are left out.`);
    const layers = lane.layers.slice(0, MOST.layers).map((layer) => {
      const left = layer.participants.slice(MOST.participants);
      if (left.length > 0)
        say.impossible(
          `Its layer ${layer.name} has more than ${MOST.participants} turns: those of ${left.map((one) => one ?? "nobody").join(", ")} are left out.`,
        );
      if (layer.shift_minutes > MOST.minutes)
        say.nearly(
          `The turns of its layer ${layer.name} are longer than ten years, the most here.`,
        );
      return {
        ...layer,
        participants: layer.participants.slice(0, MOST.participants),
        shift_minutes: Math.max(1, Math.min(Math.round(layer.shift_minutes), MOST.minutes)),
      };
    });
    return { ...lane, layers };
  });
}

function overridesIn(
  lane: SeatLane,
  {
    plan,
    i,
    of,
    around,
    say,
  }: { plan: SchedulePlan; i: number; of: number; around: Around; say: Say },
): GivenOverride[] {
  const mine = plan.overrides
    .filter(({ until, from }) => until > around.now && from < until)
    .filter(
      ({ rotations }) => rotations === null || rotations.some((id) => lane.rotations.includes(id)),
    );
  // The last override wins: with several people on call, each schedule has another of them last.
  const last = (n: number) => (plan.together && n % of === i ? 1 : 0);
  const ordered = [...mine.entries()].sort(([a], [b]) => last(a) - last(b) || a - b);
  const pieces = ordered
    .flatMap(([, override]) => cut(override))
    .filter(({ until }) => until > around.now);
  if (pieces.length > MOST.overrides)
    say.impossible(
      `It has ${pieces.length} future overrides; the first ${MOST.overrides} are imported.`,
    );
  return pieces.slice(0, MOST.overrides);
}

function cut(override: GivenOverride): GivenOverride[] {
  const { from, until } = override;
  const pieces = Math.ceil((until - from) / LONGEST_OVERRIDE);
  return Array.from({ length: pieces }, (_, n) => ({
    ...override,
    from: from + n * LONGEST_OVERRIDE,
    until: Math.min(until, from + (n + 1) * LONGEST_OVERRIDE),
  }));
}

/** Compares the other system's shifts of the next 90 days with the box's. */
function compare(
  { theirs, zone, ask }: SchedulePlan,
  made: {
    lanes: readonly SeatLane[];
    overrides: readonly GivenOverride[][];
    around: Around;
    say: Say;
  },
): void {
  const { lanes, overrides, around, say } = made;
  const from = Math.max(around.now, theirs?.from ?? 0);
  const until = Math.min(around.now + COMPARED, theirs?.until ?? 0);
  if (theirs === null || from >= until) {
    say.nearly(`Its shifts weren't compared with ${around.title}'s own: ${ask}`);
    return;
  }
  const ours = shiftsOf(
    lanes.map((lane, i) => scheduleOf(lane, overrides[i] ?? [])),
    { from, until },
  );
  const differences = differencesBetween(theirs.shifts, ours, { from, until });
  for (const one of differences.slice(0, SHOWN))
    say.nearly(`Other people are on call from ${differenceText(one, zone)}.`);
  if (differences.length > SHOWN)
    say.nearly(
      `Other people are on call in ${differences.length - SHOWN} more periods of its next ${days(from, until)} days.`,
    );
  if (differences.length === 0)
    say.exact(`Its shifts of the next ${days(from, until)} days are ${around.title}'s own.`);
}

const days = (from: number, until: number) => Math.round((until - from) / DAY);

function scheduleOf({ zone, layers }: SeatLane, overrides: readonly GivenOverride[]): Schedule {
  return {
    timezone: zone,
    layers,
    holidays: new Map(),
    overrides: overrides.map(({ person, from, until }, n) => ({
      id: `${n}`,
      account_id: person,
      starts_at: from,
      ends_at: until,
    })),
  };
}
