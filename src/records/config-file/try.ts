import { createSchedule, findSchedule, replaceSchedule } from "../../core/oncall/schedules.ts";
import { createProject, findProject, getProject } from "../../core/projects/projects.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import { addNewcomer } from "../../people/accounts.ts";
import type { Applied } from "./applied.ts";
import { type ApplyOptions, applyConfig } from "./apply.ts";
import { peopleOf } from "./people.ts";
import { tenantNouns } from "./tenant-nouns.ts";

/** Thrown to undo a trial while keeping its result. */
class Tried extends Error {
  readonly applied: Applied;

  constructor(applied: Applied) {
    super("tried");
    this.applied = applied;
  }
}

/**
 * Applies and undoes it. `assumed`: what will exist when it is applied. `assume`: shared schedules of other projects,
 * `project/schedule`; `assume_people`: emails of people; the others: things of the tenant. Returns the result without its secrets.
 * Throws as `applyConfig` does.
 */
export function tryConfig(
  store: Store,
  options: ApplyOptions,
  assumed: Readonly<Record<string, readonly string[] | undefined>> = {},
): Applied {
  try {
    return store.write((tx) => {
      for (const [key, { list, make }] of tenantNouns) {
        const names = new Set(list(tx).map(({ name }) => name));
        for (const name of assumed[`assume_${key}`] ?? []) if (!names.has(name)) make(tx, name);
      }
      for (const name of assumed["assume"] ?? []) standIn(tx, name, options.name);
      const there = peopleOf(tx);
      for (const email of assumed["assume_people"] ?? [])
        if (there.idOf(email) === undefined) standInFor(tx, email);
      throw new Tried(applyConfig(tx, options));
    });
  } catch (error) {
    if (!(error instanceof Tried)) throw error;
    return { ...error.applied, tokens: [], secrets: [], heartbeats: [] };
  }
}

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
