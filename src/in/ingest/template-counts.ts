import { UNWRITTEN_SECONDS } from "../../core/projects/missing.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Arrival } from "./arrival.ts";

/** How often one shape of message came. Times are Unix seconds. */
export interface ShapeCount {
  n: number;
  firstSeen: number;
  lastSeen: number;
  /** The highest. */
  level: number;
  /** The source of the latest. */
  sourceId: number;
}

interface Held extends ShapeCount {
  /** When it was last written. */
  writtenAt: number;
}

/** Shapes of one project that are remembered: as many as a project keeps. */
const MOST_SHAPES = 10_000;

const UPSERT = `INSERT INTO template_counts (project_id, id, n, first_seen, last_seen, level, source_id) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (project_id, id) DO UPDATE SET n = n + excluded.n, last_seen = excluded.last_seen,
    level = max(level, excluded.level), source_id = excluded.source_id`;

export type TemplateCounts = ReturnType<typeof createTemplateCounts>;

/** Counts by shape. The first of a minute are written with their events; later ones wait in memory. */
export function createTemplateCounts() {
  const byProject = new Map<number, ForgetfulMap<string, Held>>();
  const shapesOf = (projectId: number) => {
    let shapes = byProject.get(projectId);
    if (shapes === undefined) {
      shapes = new ForgetfulMap(MOST_SHAPES);
      byProject.set(projectId, shapes);
    }
    return shapes;
  };
  const write = (tx: Tx, projectId: number, { shape, held }: { shape: string; held: Held }) => {
    const { n, firstSeen, lastSeen, level, sourceId } = held;
    tx.sql<
      [
        ...[project: number, id: string, n: number, first: number],
        ...[last: number, level: number, source: number],
      ]
    >(UPSERT).run(projectId, shape, n, firstSeen, lastSeen, level, sourceId);
    held.n = 0;
    held.writtenAt = tx.at;
  };
  return {
    /** Counts one event of a shape, in its own transaction. */
    add(tx: Tx, { source, event }: Arrival, shape: string) {
      const shapes = shapesOf(source.projectId);
      let held = shapes.get(shape);
      if (held === undefined) {
        held = {
          n: 0,
          firstSeen: tx.at,
          lastSeen: tx.at,
          level: event.level,
          sourceId: source.id,
          writtenAt: tx.at - UNWRITTEN_SECONDS,
        };
        shapes.set(shape, held);
      }
      held.n++;
      held.lastSeen = tx.at;
      held.sourceId = source.id;
      if (event.level > held.level) held.level = event.level;
      // The absolute value: after the clock was set back, the minute would never be over.
      if (Math.abs(tx.at - held.writtenAt) >= UNWRITTEN_SECONDS)
        write(tx, source.projectId, { shape, held });
    },
    /** The unwritten counts, by shape. */
    waiting: (projectId: number) =>
      new Map([...(byProject.get(projectId) ?? [])].filter(([, { n }]) => n > 0)),
    isWritten: () =>
      byProject.values().every((shapes) => shapes.values().every(({ n }) => n === 0)),
    flush(tx: Tx) {
      for (const [projectId, shapes] of byProject)
        for (const [shape, held] of shapes) if (held.n > 0) write(tx, projectId, { shape, held });
    },
    forget: (projectId: number) => void byProject.delete(projectId),
    /** The shape is forgotten: what isn't written of it never is. */
    forgetShape: (projectId: number, shape: string) => void byProject.get(projectId)?.delete(shape),
    /** After a rollback; the unwritten counts, at most those of a minute, are lost. */
    clear: () => byProject.clear(),
  };
}
