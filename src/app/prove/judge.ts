import type { ProjectPlan, Received, RunEvidence, SeenAlert } from "./evidence.ts";
import { doubles, lostFirings, miscounted, undoneEnds } from "./judge-names.ts";
import { laddersOf, lostPushes, pushedToRevoked, unread } from "./judge-pushes.ts";
import {
  climbedWrong,
  lostRises,
  neverTold,
  sleepers,
  takenUnasked,
  toldTooSoon,
} from "./judge-quiet.ts";

/** A promise that was broken. */
export interface Violation {
  promise: string;
  /** How often. */
  count: number;
  /** The first case. */
  example: string;
}

type Promised = (evidence: RunEvidence) => string[];

/** Each promise, and how a breach shows in the evidence. */
export const promises = {
  "every accepted event is stored": (evidence) => {
    const stored = new Set(evidence.lines);
    return evidence.events
      .filter(({ n, outcome }) => outcome === "accepted" && !stored.has(n))
      .map(({ n, project }) => `event ${n} of ${project}`);
  },
  "no refused event is stored": (evidence) => {
    const stored = new Set(evidence.lines);
    return evidence.events
      .filter(({ n, outcome }) => outcome === "refused" && stored.has(n))
      .map(({ n, project }) => `event ${n} of ${project}`);
  },
  "every event is stored once": ({ lines }) => {
    const seen = new Set<number>();
    return lines
      .filter((n) => seen.size === seen.add(n).size)
      .map((n) => `event ${n} is there more than once`);
  },
  "nothing is stored that was not sent": ({ events, lines }) =>
    lines.filter((n) => events[n]?.n !== n).map((n) => `line ${n}`),
  "alerts count what is stored": countsOff,
  "every alert reached every endpoint": unreached,
  "an acknowledgement or resolve that was answered holds": ({ verbs, alerts }) => {
    const states = new Map(alerts.map(({ id, state }) => [id, state]));
    return verbs
      .filter(({ verb, alertId }) => {
        const state = states.get(alertId);
        return verb === "resolve" ? state !== "resolved" : state === "open" || state === undefined;
      })
      .map(({ verb, alertId }) => `alert ${alertId} is ${states.get(alertId)} after its ${verb}`);
  },
  "an event is the same bytes each time": ({ arrivals }) => {
    const digests = new Map<string, string>();
    return arrivals
      .filter(({ eventId, digest }) => {
        const known = digests.get(eventId);
        digests.set(eventId, known ?? digest);
        return known !== undefined && known !== digest;
      })
      .map(({ eventId, endpoint }) => `event ${eventId} came to ${endpoint} with other bytes`);
  },
  "an event keeps its id": ({ arrivals }) => {
    const ids = new Map<string, string>();
    return arrivals
      .filter(({ alertId, event, eventId }) => {
        const known = ids.get(`${alertId} ${event}`);
        ids.set(`${alertId} ${event}`, known ?? eventId);
        return known !== undefined && known !== eventId;
      })
      .map(({ alertId, event }) => `${event} of alert ${alertId} came under two ids`);
  },
  "every page of a person reaches them": lostPages,
  "every page is pushed to the browsers of who is paged": lostPushes,
  "a push can be opened by its browser": unread,
  "nothing is pushed to a browser that was revoked": pushedToRevoked,
  "the events of an alert come in order": disordered,
  "a firing that was answered has its alert": lostFirings,
  "an end that was answered holds": undoneEnds,
  "one alert of a name stands": doubles,
  "each firing is counted once": miscounted,
  "nothing is sent while it is silenced": toldTooSoon,
  "what was silenced is sent at its end": neverTold,
  "an acknowledgement that ends notifies again": sleepers,
  "an alert that becomes critical rings as such": lostRises,
  "an alert follows the change of its ladder and pages once": climbedWrong,
  "a link acknowledges what it was pressed for, and nothing else": takenUnasked,
  "nothing waits once faults stop": ({ pending, givenUp }) => [
    ...(pending > 0 ? [`${pending} deliveries or executions`] : []),
    ...(givenUp > 0 ? [`${givenUp} deliveries were given up`] : []),
  ],
  "the files are whole": ({ damage }) => (damage === null ? [] : [damage]),
  "the box ends only when it is killed": ({ falls }) => falls,
  "no request meets an error of the box": ({ oddAnswers }) => oddAnswers,
} satisfies Record<string, Promised>;

/** The promises that were broken; [] when all were kept. */
export function judge(evidence: RunEvidence): Violation[] {
  return Object.entries(promises).flatMap(([promise, broken]) => {
    const found = broken(evidence);
    const [example] = found;
    return example === undefined ? [] : [{ promise, count: found.length, example }];
  });
}

/** Each rule of a project counts every stored line, except those that a window still holds. */
function countsOff({ projects, alerts, events, lines }: RunEvidence): string[] {
  const projectOf = new Map(events.map(({ n, project }) => [n, project]));
  const counting = projects.filter(({ named, quiet }) => !named && !quiet);
  return counting.flatMap(({ name, rules }) => {
    const stored = new Set(lines.filter((n) => projectOf.get(n) === name)).size;
    return rules.flatMap((rule) => {
      const own = alerts.filter((alert) => alert.project === name && alert.rule === rule.name);
      const counted = own.reduce((sum, { count }) => sum + count, 0);
      const mayWait = (rule.count - 1) * (own.length + rule.keys);
      if (counted <= stored && stored - counted <= mayWait) return [];
      return [`${name}/${rule.name}: ${stored} stored, ${counted} counted`];
    });
  });
}

/** The events that an alert must have had, judged by its state. */
function eventsOf(alert: SeenAlert): string[] {
  return [
    "alert.opened",
    ...(alert.escalation_level > 0 ? ["alert.escalated"] : []),
    ...(alert.state === "acknowledged" ? ["alert.acknowledged"] : []),
    ...(alert.state === "resolved" ? ["alert.resolved"] : []),
  ];
}

function unreached({ projects, alerts, arrivals }: RunEvidence): string[] {
  const came = new Set(
    arrivals
      .filter(({ acceptedAt }) => acceptedAt !== null)
      .map(({ endpoint, alertId, event }) => `${endpoint} ${alertId} ${event}`),
  );
  const plans = new Map(projects.map((plan) => [plan.name, plan]));
  return alerts.flatMap((alert) => {
    const plan = plans.get(alert.project);
    if (plan === undefined) return [`alert ${alert.id} is of no project`];
    return owed(alert, plan)
      .filter(({ endpoint, event }) => !came.has(`${endpoint} ${alert.id} ${event}`))
      .map(({ endpoint, event }) => `${event} of alert ${alert.id} never came to ${endpoint}`);
  });
}

function owed(alert: SeenAlert, plan: ProjectPlan): { endpoint: string; event: string }[] {
  const told = plan.endpoints.flatMap((endpoint) =>
    eventsOf(alert).map((event) => ({ endpoint, event })),
  );
  const run = plan.action === null ? [] : [{ endpoint: plan.action, event: "alert.opened" }];
  const isLadder = plan.rules.some(({ name, ladder }) => ladder && name === alert.rule);
  const silent = isLadder && alert.escalation_level === 0;
  const paged = silent ? plan.endpoints : [];
  return [...told, ...run, ...paged.map((endpoint) => ({ endpoint, event: "alert.escalated" }))];
}

/** Each alert of a ladder has a page, which arrived or was withdrawn because the alert was acknowledged. */
function lostPages(evidence: RunEvidence): string[] {
  const { alerts, told, devices } = evidence;
  const browsers = new Set(devices.map(({ contactId }) => contactId));
  const pages = evidence.pages.filter(({ contactId }) => !browsers.has(contactId));
  const came = new Set(
    told
      .filter(({ purpose, wasTaken }) => purpose === "page" && wasTaken)
      .flatMap((m) => m.alertIds),
  );
  const paged = new Set(pages.map(({ alertId }) => alertId));
  const open = new Set(alerts.filter(({ state }) => state === "open").map(({ id }) => id));
  const ladders = laddersOf(evidence);
  return [
    ...alerts
      .filter(({ id, project, rule }) => ladders.has(`${project}/${rule}`) && !paged.has(id))
      .map(({ id }) => `alert ${id} pages nobody`),
    ...pages
      .filter(({ alertId, status }) =>
        status === "delivered" ? !came.has(alertId) : status !== "withdrawn" || open.has(alertId),
      )
      .map(({ alertId, status }) => `a page of alert ${alertId} is ${status} and never came`),
  ];
}

/**
 * Order of an alert's events. It is renotified until it is acknowledged, because its level rose, or after that ended.
 */
const RANK: Record<string, number> = {
  "alert.opened": 0,
  "alert.escalated": 1,
  "alert.acknowledged": 2,
  "alert.renotified": 2,
  "alert.resolved": 3,
};

/** A later event of an alert may only be sent after the earlier ones were accepted. */
function disordered({ arrivals }: RunEvidence): string[] {
  const trails = new Map<string, Received[]>();
  for (const arrival of arrivals) {
    const key = `${arrival.endpoint} ${arrival.alertId}`;
    const trail = trails.get(key);
    if (trail === undefined) trails.set(key, [arrival]);
    else trail.push(arrival);
  }
  return [...trails.values()].flatMap((trail) =>
    trail
      .filter((later) => trail.some((earlier) => isOvertaken(earlier, later, trail)))
      .map(
        ({ endpoint, alertId, event }) => `${event} of alert ${alertId} overtook at ${endpoint}`,
      ),
  );
}

function isOvertaken(earlier: Received, later: Received, trail: readonly Received[]): boolean {
  if ((RANK[earlier.event] ?? 0) >= (RANK[later.event] ?? 0)) return false;
  return !trail.some(
    ({ event, acceptedAt }) =>
      event === earlier.event && acceptedAt !== null && acceptedAt < later.step,
  );
}
