import type { Source } from "../../core/projects/sources.ts";
import type { Store } from "../../ground/store/store.ts";
import type { IngestEvent } from "../ingest/event.ts";
import type { Watched } from "./heartbeat.ts";

interface Watch extends Watched {
  id: string;
}

/** Finds the heartbeats that an adapter's events feed: Prometheus' Watchdog alert counts as its ping. */
interface HeartbeatFeed {
  fedBy(source: Source, events: readonly IngestEvent[]): string[];
}

const WATCHES = "SELECT id, watch FROM heartbeats WHERE project_id = ? AND watch IS NOT NULL";

/** The watched events of a project are cached until its configuration changes. */
export function createHeartbeatFeed(store: Store): HeartbeatFeed {
  const byProject = new Map<number, readonly Watch[]>();
  store.onCommit((notes) => {
    for (const note of notes)
      if (note.topic === "config" || note.topic === "project-deleted")
        byProject.delete(note.projectId);
  });
  const watchesOf = (projectId: number): readonly Watch[] => {
    let watches = byProject.get(projectId);
    if (watches === undefined) {
      const rows = store.sql<[number], { id: string; watch: string }>(WATCHES).all(projectId);
      watches = rows.map(({ id, watch }) => ({ id, ...(JSON.parse(watch) as Watched) }));
      byProject.set(projectId, watches);
    }
    return watches;
  };
  return {
    fedBy: (source, events) =>
      watchesOf(source.projectId)
        .filter(({ adapter }) => adapter === source.kind)
        .filter((watch) => watch.source === undefined || watch.source === source.name)
        .filter((watch) => events.some((event) => isHeard(watch, event)))
        .map(({ id }) => id),
  };
}

function isHeard({ match = {} }: Watch, { named, keys }: IngestEvent): boolean {
  if (named && named.action !== "fire") return false;
  const wanted = Object.entries(match);
  return wanted.length > 0 && wanted.every(([name, value]) => keys?.[name] === value);
}
