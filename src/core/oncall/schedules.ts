import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";
import { type ErrorDetail, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { projects, schedules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { mustBeBelowLimit } from "../projects/bounds.ts";
import { mustBeInNoLadder, renameInLadders } from "../projects/ladders.ts";
import { changeConfig, type Project, projectOf } from "../projects/projects.ts";
import type { StoredRule } from "../projects/rule.ts";
import { membersAmong, strangers } from "../projects/rule-references.ts";
import { refuseNamed, renameInLadder, rulesWithSchedule } from "../projects/rules.ts";
import { scheduleNamed } from "../projects/schedule-names.ts";
import { looksOf, MOST_LOOKS } from "./complexity.ts";
import { idsOfSchedulesWith } from "./duty.ts";
import { unknownCalendars } from "./holiday-days.ts";
import { type Layer, peopleOfLayers, type ScheduleInput, type StoredSchedule } from "./schedule.ts";
import { lookAtShifts } from "./shift-checks.ts";
import { isTimezone } from "./zone.ts";

const columns = {
  id: schedules.id,
  name: schedules.name,
  timezone: schedules.timezone,
  layers: schedules.layers,
  shared: schedules.shared,
  shift_check: schedules.shiftCheck,
  covers: schedules.covers,
  hand_over: schedules.handOver,
  project: projects.name,
  created_at: schedules.createdAt,
  updated_at: schedules.updatedAt,
};

function fromRow(row: Omit<StoredSchedule, "layers"> & { layers: string }): StoredSchedule {
  return { ...row, layers: JSON.parse(row.layers) as Layer[] };
}

export function listSchedules(reader: Reader, project: Project): StoredSchedule[] {
  return reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(eq(schedules.projectId, project.id))
    .orderBy(asc(schedules.name))
    .all()
    .map(fromRow);
}

/** What schedules are called, each name once, at most `most`. */
export function namesOfSchedules(reader: Reader, most: number): string[] {
  const found = reader.orm.selectDistinct({ name: schedules.name }).from(schedules);
  return found
    .orderBy(asc(schedules.name))
    .limit(most)
    .all()
    .map(({ name }) => name);
}

/** Those of other projects that this one's ladders may name, by project and name. */
export function listSharedSchedules(reader: Reader, project: Project): StoredSchedule[] {
  return reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(and(sql`${schedules.shared} = 1`, ne(schedules.projectId, project.id)))
    .orderBy(asc(projects.name), asc(schedules.name))
    .all()
    .map(fromRow);
}

/** Those of all projects, by project and name. */
export function idsOfSchedules(reader: Reader): string[] {
  return reader.orm
    .select({ id: schedules.id })
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .orderBy(asc(projects.name), asc(schedules.name))
    .all()
    .map(({ id }) => id);
}

/** Of all projects, by project and name. */
export function listAllSchedules(reader: Reader): StoredSchedule[] {
  return reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .orderBy(asc(projects.name), asc(schedules.name))
    .all()
    .map(fromRow);
}

/** Null where the project has none of this name. */
export function findSchedule(
  reader: Reader,
  project: { id: number },
  name: string,
): StoredSchedule | null {
  const row = reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(and(eq(schedules.projectId, project.id), eq(schedules.name, name)))
    .get();
  return row === undefined ? null : fromRow(row);
}

/** Null where there is none of this id. */
export function scheduleById(reader: Reader, id: string): StoredSchedule | null {
  const row = reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(eq(schedules.id, id))
    .get();
  return row === undefined ? null : fromRow(row);
}

/** Those in which this account takes turns, or for whom an override stands that ends after `at`; by project and name. */
export function schedulesWith(
  reader: Reader,
  account: string,
  { at, most }: { at: number; most: number },
): StoredSchedule[] {
  const mine = idsOfSchedulesWith(reader, account, at);
  // Each page of alerts asks: most readers are in none or in few.
  if (mine.length === 0) return [];
  return reader.orm
    .select(columns)
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(inArray(schedules.id, mine))
    .orderBy(asc(projects.name), asc(schedules.name))
    .limit(most)
    .all()
    .map(fromRow);
}

/** As a ladder of the project names it; null where there is none. */
export function findForLadder(
  reader: Reader,
  project: Project,
  name: string,
): StoredSchedule | null {
  const place = scheduleNamed(reader, { projectId: project.id, name });
  return place === null ? null : findSchedule(reader, { id: place.projectId }, place.name);
}

/** `{sid}` is the schedule's name (contract §5). Throws 404. */
export function getSchedule(reader: Reader, project: Project, name: string): StoredSchedule {
  const schedule = findSchedule(reader, project, name);
  if (schedule === null) throw notFound("schedule");
  return schedule;
}

/** Throws 409 for a taken name, 422 listing each participant that is no member, for an unknown zone, layers that change too often and one too many. */
export function createSchedule(tx: Tx, project: Project, input: ScheduleInput): StoredSchedule {
  mustBeFree(tx, project, input.name);
  mustBeBelowLimit(tx, "schedules", project.id);
  checkSchedule(tx, input);
  const { name, timezone, layers, shared = false, shift_check = true } = input;
  const { covers = "always", hand_over = true } = input;
  tx.orm
    .insert(schedules)
    .values({
      id: hexId(tx.random),
      projectId: project.id,
      name,
      timezone,
      layers: JSON.stringify(layers),
      shared,
      shiftCheck: shift_check,
      covers,
      handOver: hand_over,
      createdAt: tx.at,
      updatedAt: tx.at,
    })
    .run();
  tx.note({ topic: "oncall" });
  changeConfig(tx, project.id);
  return getSchedule(tx, project, name);
}

/**
 * Replaces layers and participants. A new name is changed in the ladders that name it, too. Throws 404, 409 (also where it
 * is no longer shared while ladders of other projects name it), 422.
 */
export function replaceSchedule(
  tx: Tx,
  project: Project,
  change: { name: string; to: ScheduleInput },
): StoredSchedule {
  const before = getSchedule(tx, project, change.name);
  const { name, timezone, layers, shared = before.shared } = change.to;
  const { shift_check = before.shift_check, covers = before.covers } = change.to;
  const { hand_over = before.hand_over } = change.to;
  if (name !== before.name) mustBeFree(tx, project, name);
  checkSchedule(tx, change.to);
  const text = JSON.stringify(layers);
  if (
    name === before.name &&
    timezone === before.timezone &&
    shared === before.shared &&
    shift_check === before.shift_check &&
    covers === before.covers &&
    hand_over === before.hand_over &&
    text === JSON.stringify(before.layers)
  )
    return before;
  const naming = rulesWithSchedule(tx, { project, name: before.name });
  const others = naming.filter((rule) => rule.project_id !== project.id);
  const whole = `${project.name}/${before.name}`;
  if (!shared) mustBeUnused(tx, project, others);
  if (!shared) mustBeInNoLadder(tx, "schedule", (one) => one === whole);
  tx.orm
    .update(schedules)
    .set({
      name,
      timezone,
      layers: text,
      shared,
      shiftCheck: shift_check,
      covers,
      handOver: hand_over,
      updatedAt: tx.at,
    })
    .where(eq(schedules.id, before.id))
    .run();
  lookAtShifts(tx, before.id);
  if (name !== before.name) {
    for (const rule of naming) renameInLadder(tx, rule, renaming(project, before.name, name));
    const to = `${project.name}/${name}`;
    const further = renameInLadders(tx, (one) => (one === whole ? to : one));
    const changed = new Set([...others.map((rule) => rule.project_id), ...further]);
    changed.delete(project.id);
    for (const id of changed) changeConfig(tx, id);
  }
  changeConfig(tx, project.id);
  return getSchedule(tx, project, name);
}

/** Throws 404, and 409 while a rule's ladder names it, of whichever project. */
export function deleteSchedule(tx: Tx, project: Project, name: string): void {
  const schedule = getSchedule(tx, project, name);
  mustBeUnused(tx, project, rulesWithSchedule(tx, { project, name }));
  mustBeInNoLadder(tx, "schedule", (one) => one === `${project.name}/${name}`);
  tx.orm.delete(schedules).where(eq(schedules.id, schedule.id)).run();
  changeConfig(tx, project.id);
}

/** A rename is no change of the rules: what their windows have counted stays. */
function renaming(project: Project, from: string, to: string): (name: string) => string {
  const there = `${project.name}/`;
  return (name) => (name === from ? to : name === there + from ? there + to : name);
}

/** Throws 409 listing rules by name, those of other projects as `{project}/{rule}`. */
function mustBeUnused(reader: Reader, project: Project, naming: readonly StoredRule[]): void {
  const home = (rule: StoredRule) =>
    rule.project_id === project.id ? "" : `${projectOf(reader, rule.project_id).name}/`;
  refuseNamed(
    { code: "schedule_in_use", what: "schedule" },
    naming.map((rule) => home(rule) + rule.name),
  );
}

function mustBeFree(reader: Reader, project: Project, name: string): void {
  if (findSchedule(reader, project, name) !== null)
    throw new ServiceError("name_taken", "The project has a schedule of this name.");
}

/** Throws 422 listing each participant that is no member, for an unknown zone and layers that change too often. */
export function checkSchedule(reader: Reader, { timezone, layers }: ScheduleInput): void {
  if (!isTimezone(timezone)) {
    throw new ServiceError(
      "invalid_timezone",
      "The time zone is no IANA name (like Europe/London).",
      {
        details: [
          { field: "/timezone", reason: "must be an IANA name", value: timezone.slice(0, 100) },
        ],
      },
    );
  }
  const empty = layers.flatMap(({ participants }, i): ErrorDetail[] => {
    if (participants.some((one) => one !== null)) return [];
    const reason = participants.length === 0 ? "must not be empty" : "must name somebody";
    return [{ field: `/layers/${i}/participants`, reason }];
  });
  if (empty.length > 0)
    throw new ServiceError("invalid_layer", "A layer needs participants.", { details: empty });
  const overtaken = layers.flatMap(({ participants, take = 1 }, i): ErrorDetail[] => {
    const people = new Set(participants.filter((one) => one !== null)).size;
    if (take <= people) return [];
    const reason = `must be at most ${people}: so many people take turns`;
    return [{ field: `/layers/${i}/take`, reason, value: String(take) }];
  });
  if (overtaken.length > 0)
    throw new ServiceError(
      "invalid_layer",
      "A layer's take is larger than the number of its participants.",
      {
        details: overtaken,
      },
    );
  const unknown = unknownCalendars(reader, layers);
  if (unknown.length > 0)
    throw new ServiceError(
      "invalid_layer",
      "A layer names holidays that don't exist: box holidays set makes them.",
      {
        details: unknown,
      },
    );
  const looks = looksOf(layers);
  if (looks > MOST_LOOKS) {
    throw new ServiceError(
      "schedule_too_complex",
      "The layers change so often that a year of them takes too long to follow: use fewer layers, longer shifts or fewer restrictions.",
      {
        details: [
          { field: "/layers", reason: `at most ${MOST_LOOKS} looks a year`, value: String(looks) },
        ],
      },
    );
  }
  const members = membersAmong(reader, peopleOfLayers(layers));
  const details = layers.flatMap((layer, i) =>
    strangers(layer.participants, members, {
      field: `/layers/${i}/participants`,
      reason: "not_a_member",
    }),
  );
  if (details.length > 0) {
    throw new ServiceError("not_a_member", "Participants are not members of this tenant.", {
      details,
    });
  }
}
