import { and, asc, eq, gt } from "drizzle-orm";
import { overrides, projects, schedules } from "../../ground/store/schema.ts";
import type { Tx } from "../../ground/store/store.ts";
import { changeConfig, projectOf } from "../projects/projects.ts";
import type { Layer } from "./schedule.ts";
import { lookAtShifts } from "./shift-checks.ts";

/** Puts somebody in another's place wherever schedules name them: `by` is a member, which is the caller's to check. */

/**
 * In every layer, where the other stood: whose turns lie when stays, and who was there already has both turns. Those that
 * changed, as `project/name`.
 */
export function replaceInLayers(tx: Tx, { from, by }: { from: string; by: string }): string[] {
  const rows = tx.orm
    .select({
      id: schedules.id,
      projectId: schedules.projectId,
      name: schedules.name,
      layers: schedules.layers,
    })
    .from(schedules)
    .orderBy(asc(schedules.projectId), asc(schedules.name))
    .all();
  return rows.flatMap(({ id, projectId, name, layers }) => {
    const before = JSON.parse(layers) as Layer[];
    if (!before.some(({ participants }) => participants.includes(from))) return [];
    const after = before.map((layer) => ({
      ...layer,
      participants: layer.participants.map((one) => (one === from ? by : one)),
    }));
    const text = JSON.stringify(after);
    tx.orm
      .update(schedules)
      .set({ layers: text, updatedAt: tx.at })
      .where(eq(schedules.id, id))
      .run();
    lookAtShifts(tx, id);
    changeConfig(tx, projectId);
    return [`${projectOf(tx, projectId).name}/${name}`];
  });
}

/** In overrides that aren't over. Those that changed, as `project/schedule/id`. */
export function replaceInOverrides(tx: Tx, { from, by }: { from: string; by: string }): string[] {
  const rows = tx.orm
    .select({
      id: overrides.id,
      scheduleId: schedules.id,
      project: projects.name,
      schedule: schedules.name,
    })
    .from(overrides)
    .innerJoin(schedules, eq(schedules.id, overrides.scheduleId))
    .innerJoin(projects, eq(projects.id, schedules.projectId))
    .where(and(eq(overrides.accountId, from), gt(overrides.endsAt, tx.at)))
    .orderBy(asc(projects.name), asc(schedules.name), asc(overrides.id))
    .all();
  for (const { id, scheduleId } of rows) {
    tx.orm.update(overrides).set({ accountId: by }).where(eq(overrides.id, id)).run();
    lookAtShifts(tx, scheduleId);
  }
  return rows.map(({ id, project, schedule }) => `${project}/${schedule}/${id}`);
}
