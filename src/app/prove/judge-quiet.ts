import type { RunEvidence, SilenceRecord } from "./evidence.ts";
import { CRITICAL_LEVEL, paging, quietSetting } from "./world.ts";

/** Alerts of hosts that were silenced, the earliest end of the silence, and what must be sent then. */
function held({ alerts, hushes }: RunEvidence): (SilenceRecord & { id: string })[] {
  const hushOf = new Map(hushes.map((hush) => [hush.host, hush]));
  return alerts.flatMap(({ id, project, identifiers }) => {
    const hush = hushOf.get(identifiers["host"] ?? "");
    return project === quietSetting.name && hush !== undefined ? [{ ...hush, id }] : [];
  });
}

/** Nothing about an alert is sent before its silence may have ended; an open one may have sent its opening. */
export function toldTooSoon(evidence: RunEvidence): string[] {
  const hushOf = new Map(held(evidence).map((hush) => [hush.id, hush]));
  return evidence.arrivals
    .filter(({ alertId, event, timestamp }) => {
      const { until = 0, owes = event } = hushOf.get(alertId) ?? {};
      return timestamp < until && (owes === "alert.opened" || owes === event);
    })
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

/** After the silence each of these alerts is still open, so what it owes is sent. */
export function neverTold(evidence: RunEvidence): string[] {
  const owing = Map.groupBy(held(evidence), ({ owes }) => owes);
  return [...owing].flatMap(([event, hushes]) =>
    unheard(evidence, { ids: hushes.map(({ id }) => id), event }),
  );
}

/** An alert that became critical has that level, and a page for the contact that takes only critical ones. */
export function lostRises({ rises, alerts, pages }: RunEvidence): string[] {
  const levels = new Map(alerts.map(({ id, level }) => [id, level]));
  return rises
    .filter(
      ({ alertId, contactId }) =>
        levels.get(alertId) !== CRITICAL_LEVEL ||
        !pages.some((page) => page.alertId === alertId && page.contactId === contactId),
    )
    .map(({ alertId }) => `alert ${alertId} of level ${levels.get(alertId)} rang as before`);
}

/** An alert whose ladder changed has one page for a contact of the person whom it names, before or after the change. */
export function climbedWrong({ climbs, pages, devices }: RunEvidence): string[] {
  const browsers = new Set(devices.map(({ contactId }) => contactId));
  return climbs.flatMap(({ alertId }) => {
    const its = pages.filter((page) => page.alertId === alertId && !browsers.has(page.contactId));
    return its.length === 1 ? [] : [`alert ${alertId} has ${its.length} pages`];
  });
}

/** These alerts are acknowledged only by a link that was pressed for them. */
export function takenUnasked({ alerts, pressed }: RunEvidence): string[] {
  return alerts
    .filter(({ project, rule }) => project === quietSetting.name && rule === paging.name)
    .filter(({ id, state }) => state === "acknowledged" && !pressed.includes(id))
    .map(({ id }) => `alert ${id} was acknowledged, and no link was pressed for it`);
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
