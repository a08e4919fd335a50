import type { RunEvidence } from "./evidence.ts";
import { judge, type promises } from "./judge.ts";

/** A false piece of evidence for each promise. A judge that doesn't notice it would prove nothing. */
const forgeries: Record<keyof typeof promises, (evidence: RunEvidence) => Partial<RunEvidence>> = {
  "every accepted event is stored": ({ events }) => ({
    events: [...events, { n: events.length, project: "forged", outcome: "accepted" }],
  }),
  "no refused event is stored": ({ events, lines }) => ({
    events: [...events, { n: events.length, project: "forged", outcome: "refused" }],
    lines: [...lines, events.length],
  }),
  "every event is stored once": ({ lines }) => ({ lines: [...lines, ...lines.slice(0, 1)] }),
  "nothing is stored that was not sent": ({ lines }) => ({ lines: [...lines, -1] }),
  "alerts count what is stored": ({ alerts }) => ({
    alerts: alerts.map((alert) =>
      alert.dedup_key === null ? { ...alert, count: alert.count + 1_000_000 } : alert,
    ),
  }),
  "every alert reached every endpoint": ({ arrivals }) => ({
    arrivals: arrivals.filter(({ alertId }) => alertId !== arrivals[0]?.alertId),
  }),
  "every page of a person reaches them": () => ({ told: [] }),
  "every page is pushed to the browsers of who is paged": () => ({ pushes: [] }),
  "a push can be opened by its browser": ({ pushes }) => ({
    pushes: pushes.map((push) => ({ ...push, isRead: false })),
  }),
  "nothing is pushed to a browser that was revoked": ({ devices }) => ({
    devices: devices.map((device) => ({ ...device, revokedAt: Number.NEGATIVE_INFINITY })),
  }),
  "an acknowledgement or resolve that was answered holds": ({ verbs }) => ({
    verbs: [...verbs, { verb: "resolve", alertId: "forged" }],
  }),
  "an event is the same bytes each time": ({ arrivals }) => ({
    arrivals: [...arrivals, ...arrivals.slice(0, 1).map((a) => ({ ...a, digest: "forged" }))],
  }),
  "an event keeps its id": ({ arrivals }) => ({
    arrivals: [...arrivals, ...arrivals.slice(0, 1).map((a) => ({ ...a, eventId: "forged" }))],
  }),
  "the events of an alert come in order": ({ arrivals }) => ({
    arrivals: [
      ...arrivals.slice(0, 1).map((a) => ({ ...a, event: "alert.resolved", step: 0 })),
      ...arrivals,
    ],
  }),
  "a firing that was answered has its alert": ({ looks }) => ({
    looks: looks.map((look) => ({ ...look, standing: [] })),
  }),
  "an end that was answered holds": ({ looks }) => ({
    looks: looks.map((look) => ({ ...look, standing: [...look.standing, 1] })),
  }),
  "one alert of a name stands": ({ looks }) => ({
    looks: looks.map((look) => ({ ...look, standing: [...look.standing, ...look.standing] })),
  }),
  "each firing is counted once": ({ alerts }) => ({
    alerts: alerts.map((alert) => ({ ...alert, count: alert.count + 1_000_000 })),
  }),
  "nothing is sent while it is silenced": ({ hushes }) => ({
    hushes: hushes.map((hush) => ({ ...hush, until: Number.MAX_SAFE_INTEGER })),
  }),
  "what was silenced is sent at its end": ({ arrivals }) => ({
    arrivals: arrivals.filter(({ event }) => event !== "alert.opened"),
  }),
  "an acknowledgement that ends notifies again": ({ arrivals }) => ({
    arrivals: arrivals.filter(({ event }) => event !== "alert.renotified"),
  }),
  "an alert that becomes critical rings as such": ({ rises }) => ({
    rises: [...rises, ...rises.map((rise) => ({ ...rise, contactId: "forged" }))],
  }),
  "an alert follows the change of its ladder and pages once": ({ pages, climbs }) => ({
    pages: pages.filter(({ alertId }) => alertId !== climbs[0]?.alertId),
  }),
  "a link acknowledges what it was pressed for, and nothing else": () => ({ pressed: [] }),
  "nothing waits once faults stop": () => ({ pending: 1 }),
  "the files are whole": () => ({ damage: "forged" }),
  "the box ends only when it is killed": () => ({ falls: ["forged"] }),
  "no request meets an error of the box": () => ({ oddAnswers: ["forged"] }),
};

/** The promises for which the judge would notice no breach in this evidence. Empty: the verdict can be trusted. */
export function blindSpots(evidence: RunEvidence): string[] {
  return Object.entries(forgeries)
    .filter(([promise, forge]) => {
      const seen = judge({ ...evidence, ...forge(evidence) });
      const before = judge(evidence).find((violation) => violation.promise === promise)?.count ?? 0;
      return (seen.find((violation) => violation.promise === promise)?.count ?? 0) <= before;
    })
    .map(([promise]) => promise);
}
