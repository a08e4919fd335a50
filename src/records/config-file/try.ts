import { listHolidays, putHolidays } from "../../core/oncall/holidays.ts";
import { createSchedule, findSchedule, replaceSchedule } from "../../core/oncall/schedules.ts";
import { findLadder, insertLadder } from "../../core/projects/ladders.ts";
import { createProject, findProject, getProject } from "../../core/projects/projects.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import { addNewcomer } from "../../people/accounts.ts";
import { type Applied, type ApplyOptions, applyConfig } from "./apply.ts";
import { peopleOf } from "./people.ts";

/** Thrown to undo a trial while keeping its result. */
class Tried extends Error {
  readonly applied: Applied;

  constructor(applied: Applied) {
    super("tried");
    this.applied = applied;
  }
}

/** What will exist when the configuration is applied. */
interface Assumed {
  /** Of other projects, `project/schedule`. */
  schedules: readonly string[];
  /** Emails of people who will have an account. */
  people: readonly string[];
  /** Ladders of the tenant, by name. */
  ladders: readonly string[];
  /** Holidays of the tenant, by name. */
  holidays: readonly string[];
}

const NOTHING: Assumed = { schedules: [], people: [], ladders: [], holidays: [] };

/** Applies and undoes it. Returns the result without its secrets. Throws as `applyConfig` does. */
export function tryConfig(
  store: Store,
  options: ApplyOptions,
  { schedules, people, ladders, holidays }: Assumed = NOTHING,
): Applied {
  try {
    return store.write((tx) => {
      const calendars = new Set(listHolidays(tx).map((one) => one.name));
      for (const name of holidays) if (!calendars.has(name)) putHolidays(tx, name, { dates: [] });
      for (const name of schedules) standIn(tx, name, options.name);
      for (const name of ladders)
        if (findLadder(tx, name) === null) insertLadder(tx, { name, ...emptyLadder });
      const there = peopleOf(tx);
      for (const email of people) if (there.idOf(email) === undefined) standInFor(tx, email);
      throw new Tried(applyConfig(tx, options));
    });
  } catch (error) {
    if (!(error instanceof Tried)) throw error;
    return { ...error.applied, tokens: [], secrets: [], heartbeats: [] };
  }
}

const emptyLadder = { steps: [], passes: 1, pass_after_minutes: null, team: "" };

function standInFor(tx: Tx, email: string): void {
  const id = hexId(tx.random);
  addNewcomer(tx, { id, email, role: "member", displayName: null, passwordHash: "" });
}

/** Makes a schedule of that name, which is undone with the trial. */
function standIn(tx: Tx, name: string, project: string): void {
  const slash = name.indexOf("/");
  const [home, schedule] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash < 1 || home === project) return;
  if (findProject(tx, home) === null) createProject(tx, home);
  const at = getProject(tx, home);
  const to = { name: schedule, timezone: "UTC", layers: [], shared: true };
  const there = findSchedule(tx, at, schedule);
  if (there === null) createSchedule(tx, at, to);
  else replaceSchedule(tx, at, { name: schedule, to });
}
