import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { Reader } from "../../ground/store/store.ts";
import { unheardHeartbeats } from "../../in/heartbeats/unheard.ts";
import { type Finding, ok, wrong } from "./finding.ts";

const MOST_NAMED = 10;

/** Heartbeats that would page nobody when their reports are missing, because no rule matches their events. */
export function heartbeatFindings(reader: Reader, clock: Clock): Finding[] {
  const unheard = unheardHeartbeats(reader, unixSeconds(clock));
  if (unheard === null) return [];
  if (unheard.length === 0) return [ok("heartbeats", "a rule matches the events of each")];
  const first = unheard.slice(0, MOST_NAMED).map(({ name, project }) => `${name} of ${project}`);
  const more = unheard.length > MOST_NAMED ? " and others" : "";
  return [
    wrong(
      "heartbeats",
      `no rule matches the events of these when reports are missing: ${first.join(", ")}${more}`,
      "make a rule that matches the source of kind heartbeats at their level: box source list, box rule",
    ),
  ];
}
