import { and, asc, eq, gt, sql } from "drizzle-orm";
import { ladders, overrides, projects, rules, schedules } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";

/** The rules and schedules that name an account's id, sorted, each as `project/name`; ladders by name. */

export function rulesNaming(reader: Reader, account: string): string[] {
  return reader.orm
    .select({ project: projects.name, name: rules.name })
    .from(rules)
    .innerJoin(projects, eq(projects.id, rules.projectId))
    .where(
      sql`EXISTS (SELECT 1 FROM json_each(${rules.body}, '$.escalations') s,
        json_each(s.value, '$.accounts') a WHERE a.value = ${account})`,
    )
    .orderBy(asc(projects.name), asc(rules.name))
    .all()
    .map(({ project, name }) => `${project}/${name}`);
}

/** Ladders of the tenant that name it. */
export function laddersNaming(reader: Reader, account: string): string[] {
  return reader.orm
    .select({ name: ladders.name })
    .from(ladders)
    .where(
      sql`EXISTS (SELECT 1 FROM json_each(${ladders.body}, '$.steps') s,
        json_each(s.value, '$.accounts') a WHERE a.value = ${account})`,
    )
    .orderBy(asc(ladders.name))
    .all()
    .map(({ name }) => name);
}

export function schedulesNaming(reader: Reader, account: string): string[] {
  return reader.orm
    .select({ project: projects.name, name: schedules.name })
    .from(schedules)
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(
      sql`EXISTS (SELECT 1 FROM json_each(${schedules.layers}) l,
        json_each(l.value, '$.participants') a WHERE a.value = ${account})`,
    )
    .orderBy(asc(projects.name), asc(schedules.name))
    .all()
    .map(({ project, name }) => `${project}/${name}`);
}

/** The overrides that name the account and aren't over, as `project/schedule/id`. */
export function overridesNaming(tx: Tx, account: string): string[] {
  return tx.orm
    .select({ project: projects.name, schedule: schedules.name, id: overrides.id })
    .from(overrides)
    .innerJoin(schedules, eq(schedules.id, overrides.scheduleId))
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(and(eq(overrides.accountId, account), gt(overrides.endsAt, tx.at)))
    .orderBy(asc(projects.name), asc(schedules.name), asc(overrides.id))
    .all()
    .map(({ project, schedule, id }) => `${project}/${schedule}/${id}`);
}
