import { patternTimeOf } from "../../core/projects/pattern.ts";
import { listRules } from "../../core/projects/rules.ts";
import type { Reader } from "../../ground/store/store.ts";
import { compileRule, namesOfTakers } from "../ingest/match.ts";
import { heartbeatEvent } from "./event.ts";
import { projectHeartbeats } from "./rows.ts";
import { findHeartbeatSource } from "./source.ts";

/** A heartbeat that pages nobody when its reports are missing. */
interface UnheardHeartbeat {
  id: string;
  name: string;
  project: string;
}

const PROJECTS = `SELECT id, name FROM projects p
  WHERE EXISTS (SELECT 1 FROM heartbeats h WHERE h.project_id = p.id) ORDER BY name`;

/** Heartbeats whose events no rule matches, of all projects; null: no project has a heartbeat. `at`: Unix seconds. */
export function unheardHeartbeats(reader: Reader, at: number): UnheardHeartbeat[] | null {
  const projects = reader.sql<[], { id: number; name: string }>(PROJECTS).all();
  if (projects.length === 0) return null;
  return projects.flatMap(({ id, name }) =>
    unheardOf(reader, id, at).map((beat) => ({ ...beat, project: name })),
  );
}

function unheardOf(reader: Reader, projectId: number, at: number): { id: string; name: string }[] {
  const source = findHeartbeatSource(reader, projectId);
  const rules = listRules(reader, projectId).map(compileRule);
  const time = patternTimeOf(reader);
  const said = { action: "fire", reason: "missing", instance: null } as const;
  return projectHeartbeats(reader, projectId)
    .filter((row) => row.state !== "paused")
    .filter((row) => {
      const event = heartbeatEvent(row, { ...said, exit: null, duration: null, at, since: null });
      return (
        source === null || namesOfTakers(rules, { source: source.name, event, time }).length === 0
      );
    });
}
