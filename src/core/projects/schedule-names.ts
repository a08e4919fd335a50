import { asc, eq } from "drizzle-orm";
import { projects, schedules } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";

/**
 * How ladders name a schedule: by its name in its own project, and as `{project}/{schedule}` anywhere. No name of either
 * holds a slash.
 */

/** A schedule by its name and its home, whether it is there or not. */
export interface SchedulePlace {
  projectId: number;
  name: string;
}

/** What a name means in a project; null where it begins with a project that there isn't. */
export function scheduleNamed(reader: Reader, from: SchedulePlace): SchedulePlace | null {
  const slash = from.name.indexOf("/");
  if (slash === -1) return from;
  const home = reader.orm
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.name, from.name.slice(0, slash)))
    .get();
  return home === undefined ? null : { projectId: home.id, name: from.name.slice(slash + 1) };
}

/** A shared schedule; `home` is its project's name. */
export interface SharedSchedule extends SchedulePlace {
  home: string;
}

/** Every project's, by project and name. */
export function sharedSchedules(reader: Reader): SharedSchedule[] {
  return reader.orm
    .select({ projectId: schedules.projectId, name: schedules.name, home: projects.name })
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(eq(schedules.shared, true))
    .orderBy(asc(projects.name), asc(schedules.name))
    .all();
}

/** Every name that a ladder of this project may use: its own schedules', both ways, and those that are shared. */
export function usableNames(
  reader: Reader,
  project: { id: number; name: string },
): ReadonlySet<string> {
  const own = reader.orm
    .select({ name: schedules.name })
    .from(schedules)
    .where(eq(schedules.projectId, project.id))
    .all()
    .map(({ name }) => name);
  const shared = sharedSchedules(reader).map(({ home, name }) => `${home}/${name}`);
  return new Set([...own, ...own.map((name) => `${project.name}/${name}`), ...shared]);
}
