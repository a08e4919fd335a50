import type { RunEvidence } from "./evidence.ts";
import { quietSetting } from "./world.ts";

/** Alerts of hosts that were silenced before they failed, and the earliest end of the silence. */
function held({ alerts, hushes }: RunEvidence): { id: string; until: number }[] {
  const untilOf = new Map(hushes.map(({ host, until }) => [host, until]));
  return alerts.flatMap(({ id, project, identifiers }) => {
    const until = untilOf.get(identifiers["host"] ?? "");
    return project === quietSetting.name && until !== undefined ? [{ id, until }] : [];
  });
}

/** Nothing about an alert is sent before its silence may have ended. */
export function toldTooSoon(evidence: RunEvidence): string[] {
  const untilOf = new Map(held(evidence).map(({ id, until }) => [id, until]));
  return evidence.arrivals
    .filter(({ alertId, timestamp }) => timestamp < (untilOf.get(alertId) ?? 0))
    .map(({ event, alertId }) => `${event} of alert ${alertId} while it was silenced`);
}

function unheard(
  { projects, arrivals }: RunEvidence,
  { ids, event }: { ids: readonly string[]; event: string },
): string[] {
  const endpoints = projects.find(({ name }) => name === quietSetting.name)?.endpoints ?? [];
  const came = new Set(
    arrivals
      .filter((arrival) => arrival.acceptedAt !== null && arrival.event === event)
      .map(({ endpoint, alertId }) => `${endpoint} ${alertId}`),
  );
  return endpoints.flatMap((endpoint) =>
    ids
      .filter((id) => !came.has(`${endpoint} ${id}`))
      .map((id) => `${event} of alert ${id} never came to ${endpoint}`),
  );
}

/** After the silence each of these alerts is still open, so its opening is sent. */
export function neverTold(evidence: RunEvidence): string[] {
  return unheard(evidence, { ids: held(evidence).map(({ id }) => id), event: "alert.opened" });
}

/** An alert that was snoozed or unacknowledged is open again, and that is sent. */
export function sleepers(evidence: RunEvidence): string[] {
  const states = new Map(evidence.alerts.map(({ id, state }) => [id, state]));
  const ids = evidence.rings.map(({ alertId }) => alertId);
  return [
    ...ids
      .filter((id) => states.get(id) !== "open")
      .map((id) => `alert ${id} is ${states.get(id)} after its acknowledgement ended`),
    ...unheard(evidence, { ids, event: "alert.renotified" }),
  ];
}
