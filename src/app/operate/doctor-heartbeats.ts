import { patternTimeOf } from "../../core/projects/pattern.ts";
import { listRules } from "../../core/projects/rules.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { Reader } from "../../ground/store/store.ts";
import { heartbeatEvent } from "../../in/heartbeats/event.ts";
import { projectHeartbeats } from "../../in/heartbeats/rows.ts";
import { findHeartbeatSource } from "../../in/heartbeats/source.ts";
import { compileRule, namesOfTakers } from "../../in/ingest/match.ts";
import { type Finding, ok, wrong } from "./finding.ts";

const MOST_NAMED = 10;
const PROJECTS = `SELECT id, name FROM projects p
  WHERE EXISTS (SELECT 1 FROM heartbeats h WHERE h.project_id = p.id) ORDER BY name`;

/** Heartbeats that would page nobody when their reports are missing, because no rule matches their events. */
export function heartbeatFindings(reader: Reader, clock: Clock): Finding[] {
  const projects = reader.sql<[], { id: number; name: string }>(PROJECTS).all();
  const unheard = projects.flatMap(({ id, name }) =>
    unheardOf(reader, id, unixSeconds(clock)).map((job) => `${job} of ${name}`),
  );
  if (projects.length === 0) return [];
  if (unheard.length === 0) return [ok("heartbeats", "a rule matches the events of each")];
  const named = unheard.slice(0, MOST_NAMED).join(", ");
  const more = unheard.length > MOST_NAMED ? " and others" : "";
  return [
    wrong(
      "heartbeats",
      `no rule matches the events of these when reports are missing: ${named}${more}`,
      "make a rule that matches the source of kind heartbeats at their level: box source list, box rule",
    ),
  ];
}

function unheardOf(reader: Reader, projectId: number, at: number): string[] {
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
    })
    .map(({ name }) => name);
}
