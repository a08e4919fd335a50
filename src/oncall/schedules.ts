import { and, asc, eq } from "drizzle-orm";
import { type ErrorDetail, notFound, ServiceError } from "../kit/errors.ts";
import { hexId } from "../kit/ids.ts";
import { mustHaveRoom } from "../projects/bounds.ts";
import { changeConfig, type Project } from "../projects/projects.ts";
import { membersAmong, strangers } from "../projects/rule-references.ts";
import { listRules, mustBeUnnamed, renameInLadder } from "../projects/rules.ts";
import { schedules } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import { looksOf, MOST_LOOKS } from "./complexity.ts";
import type { Layer, ScheduleInput, StoredSchedule } from "./schedule.ts";
import { isTimezone } from "./zone.ts";

const columns = {
  id: schedules.id,
  name: schedules.name,
  timezone: schedules.timezone,
  layers: schedules.layers,
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
    .where(eq(schedules.projectId, project.id))
    .orderBy(asc(schedules.name))
    .all()
    .map(fromRow);
}

/** Null where the project has none of this name. */
export function findSchedule(
  reader: Reader,
  project: Project,
  name: string,
): StoredSchedule | null {
  const row = reader.orm
    .select(columns)
    .from(schedules)
    .where(and(eq(schedules.projectId, project.id), eq(schedules.name, name)))
    .get();
  return row === undefined ? null : fromRow(row);
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
  mustHaveRoom(tx, "schedules", project.id);
  checkSchedule(tx, input);
  const { name, timezone, layers } = input;
  tx.orm
    .insert(schedules)
    .values({
      id: hexId(tx.random),
      projectId: project.id,
      name,
      timezone,
      layers: JSON.stringify(layers),
      createdAt: tx.at,
      updatedAt: tx.at,
    })
    .run();
  changeConfig(tx, project.id);
  return getSchedule(tx, project, name);
}

/** Replaces layers and participants. A new name is changed in the ladders that name it, too. Throws 404, 409, 422. */
export function replaceSchedule(
  tx: Tx,
  project: Project,
  change: { name: string; to: ScheduleInput },
): StoredSchedule {
  const before = getSchedule(tx, project, change.name);
  const { name, timezone, layers } = change.to;
  if (name !== before.name) mustBeFree(tx, project, name);
  checkSchedule(tx, change.to);
  const text = JSON.stringify(layers);
  if (
    name === before.name &&
    timezone === before.timezone &&
    text === JSON.stringify(before.layers)
  )
    return before;
  tx.orm
    .update(schedules)
    .set({ name, timezone, layers: text, updatedAt: tx.at })
    .where(eq(schedules.id, before.id))
    .run();
  if (name !== before.name) renameInLadders(tx, project, { from: before.name, to: name });
  changeConfig(tx, project.id);
  return getSchedule(tx, project, name);
}

/** Throws 404, and 409 while a rule's ladder names it. */
export function deleteSchedule(tx: Tx, project: Project, name: string): void {
  const schedule = getSchedule(tx, project, name);
  mustBeUnnamed(tx, project.id, {
    code: "schedule_in_use",
    what: "schedule",
    names: (rule) => rule.escalations.some((step) => step.schedules.includes(name)),
  });
  tx.orm.delete(schedules).where(eq(schedules.id, schedule.id)).run();
  changeConfig(tx, project.id);
}

/** A rename is no change of the rules: what their windows have counted stays. */
function renameInLadders(tx: Tx, project: Project, change: { from: string; to: string }): void {
  for (const rule of listRules(tx, project.id))
    if (rule.escalations.some((step) => step.schedules.includes(change.from)))
      renameInLadder(tx, rule, change);
}

function mustBeFree(reader: Reader, project: Project, name: string): void {
  if (findSchedule(reader, project, name) !== null)
    throw new ServiceError("name_taken", "The project has a schedule of this name.");
}

function checkSchedule(reader: Reader, { timezone, layers }: ScheduleInput): void {
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
  const empty = layers.flatMap((layer, i): ErrorDetail[] =>
    layer.participants.length === 0
      ? [{ field: `/layers/${i}/participants`, reason: "must not be empty" }]
      : [],
  );
  if (empty.length > 0)
    throw new ServiceError("invalid_layer", "A layer needs participants.", { details: empty });
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
  const members = membersAmong(
    reader,
    layers.flatMap((layer) => layer.participants),
  );
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
