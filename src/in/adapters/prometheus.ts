import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  placeOfBox,
  type Rejected,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { jsonBody, listOf } from "./json.ts";
import { type LabelledAlert, labelledEvent, nameOf, readLabelled } from "./labels.ts";
import { jsonReply, refusedAs } from "./replies.ts";

/** How long Alertmanager keeps an alert without an end: five minutes. */
const RESOLVE_TIMEOUT = 300;
const ALERTS = "/api/v2/alerts";

/**
 * The box in place of an Alertmanager (contract §23). Prometheus sends every firing alert each minute, and every ended
 * one for fifteen minutes.
 */
export const prometheus: Adapter = {
  kind: "prometheus",
  title: "Prometheus, without an Alertmanager",
  identity: {
    title: ["annotations.summary", "annotations.title", "annotations.message"],
    labels: ["alertname", "instance", "service", "job"],
    named: "all",
  },
  room: "project",
  caps: alertCaps,
  goesLast: true,
  fixed: (path) =>
    /^\/api\/v2\/(?:alerts|silences?|status|receivers)(?:\/|$)/.test(path) ? path : null,
  decode,
  refuse: refusedAs((message, code) => ({ code, message })),
  setUp: ({ base, token }) => ({
    where: "prometheus.yml",
    paste: [
      "alerting:",
      "  alertmanagers:",
      `  - scheme: ${placeOfBox(base).scheme}`,
      "    path_prefix: /v1/in/prometheus",
      "    api_version: v2",
      "    authorization:",
      `      credentials: ${token}`,
      "    static_configs:",
      `    - targets: ['${placeOfBox(base).host}']`,
    ].join("\n"),
    notes: [
      "Nothing groups or silences before the box: 200 pods that fail are 200 alerts, unless the rule names identifiers that they share. When a rule has 200 open alerts (max_open), further ones are counted into one alert.",
      "While the box is off, Prometheus drops what it can't send, and a minute later sends again what still fires. An alert that stopped firing meanwhile ends here when its time is over, four minutes after the box is back.",
      "If you have a pair of Prometheus servers, drop the replica label with alert_relabel_configs. Otherwise each problem is two alerts.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  if (request.path.replace(/\/$/, "") !== ALERTS) throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const alerts = listOf(jsonBody(request.body));
  if (alerts === null) throw new UnreadableBody("The body must be a list of alerts.");
  const events: IngestEvent[] = [];
  const rejected: Rejected[] = [];
  for (const element of alerts) {
    const alert = readLabelled(element);
    if ("reason" in alert) rejected.push(alert);
    else if (isBackwards(alert)) rejected.push({ reason: "start time must be before end time" });
    else events.push(fitted(eventOf(alert, request.at), request.watched));
  }
  return {
    events,
    rejected,
    // Alertmanager answers nothing, or for bad alerts a JSON text, which Prometheus only logs.
    answer: () =>
      rejected[0] === undefined ? { status: 200, body: "" } : jsonReply(400, rejected[0].reason),
  };
}

function isBackwards({ startsAt, endsAt }: LabelledAlert): boolean {
  return startsAt !== null && endsAt !== null && endsAt < startsAt;
}

function eventOf(alert: LabelledAlert, at: number) {
  const { startsAt, endsAt } = alert;
  const isOver = endsAt !== null && endsAt <= at;
  return labelledEvent(alert, {
    named: {
      action: isOver ? "resolve" : "fire",
      dedupKey: nameOf(alert),
      // Without a start every report is of the same firing.
      instance: String(startsAt ?? 0),
      ...(isOver ? { justEnded: isShort(alert, at) } : {}),
      expiresAt: isOver ? null : (endsAt ?? at + RESOLVE_TIMEOUT),
    },
    tag: "prometheus",
    keys: [],
  });
}

/** Ends are sent for fifteen minutes; an older one comes from a queue or a very wrong clock. */
const LATELY = 3600;

/** Whether it both started and ended, a short while ago. */
function isShort({ startsAt, endsAt }: LabelledAlert, at: number): boolean {
  return startsAt !== null && endsAt !== null && startsAt < endsAt && at - endsAt < LATELY;
}
