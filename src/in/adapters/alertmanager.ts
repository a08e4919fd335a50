import { isWebAddress } from "../ingest/named-fields.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  type Rejected,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, listOf, objectOf } from "./json.ts";
import { type LabelledAlert, labelledEvent, readLabelled, spokenFor } from "./labels.ts";
import { jsonReply } from "./replies.ts";

/**
 * Alertmanager's webhook (contract §23). Each alert of a group becomes an event, never the group, whose members change
 * from one notification to the next.
 */
export const alertmanager: Adapter = {
  kind: "alertmanager",
  title: "Prometheus Alertmanager",
  identity: {
    title: ["annotations.summary", "annotations.title", "annotations.message"],
    labels: ["alertname", "instance", "service", "job"],
    named: "all",
  },
  room: "project",
  caps: alertCaps,
  decode,
  setUp: ({ base, token }) => ({
    where: "alertmanager.yml, in the receiver that your route names",
    paste: [
      "receivers:",
      "- name: box",
      "  webhook_configs:",
      `  - url: '${base}/v1/in/alertmanager'`,
      "    send_resolved: true",
      "    http_config:",
      "      authorization:",
      `        credentials: ${token}`,
    ].join("\n"),
    notes: [
      "The box takes firing and resolved alerts: a repeat changes nothing, a resolve ends the alert.",
      "While the box is off, Alertmanager tries again until one group_interval is over (5 minutes by default). Alerts that still fire come with the next one. Those that ended meanwhile are never reported as resolved: resolve them by hand, or set auto_resolve_quiet_minutes.",
      "Leave max_alerts at 0: otherwise some alerts of a group don't reach the box, and neither do their resolved messages.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  const group = objectOf(jsonBody(request.body));
  const alerts = listOf(group?.["alerts"]);
  if (group === null || alerts === null)
    throw new UnreadableBody(
      "The body has no list of alerts. A webhook with a custom payload needs a source of kind hook.",
    );
  const events = [];
  const rejected: Rejected[] = [];
  const page = alertmanagerPage(group);
  for (const element of alerts) {
    const alert = readLabelled(element);
    if ("reason" in alert) rejected.push(alert);
    else events.push(fitted(eventOf(alert, { group, page, at: request.at }), request.watched));
  }
  if (Number(asText(group["truncatedAlerts"])) > 0)
    rejected.push({ reason: `max_alerts left out ${asText(group["truncatedAlerts"])} members` });
  return { events, rejected, answer: (taken) => jsonReply(200, taken) };
}

function eventOf(
  alert: LabelledAlert,
  { group, page, at }: { group: JsonFields; page: readonly Link[]; at: number },
) {
  const named = spokenFor(alert, group, at);
  const keys = [
    ["am.receiver", asText(group["receiver"])],
    ["am.group_key", asText(group["groupKey"])],
  ] as const;
  const event = labelledEvent(alert, {
    named,
    tag: "alertmanager",
    keys: keys.filter(([, text]) => text !== ""),
  });
  return { ...event, links: [...(event.links ?? []), ...page] };
}

interface Link {
  href: string;
  text: string;
}

/** The group's page in Alertmanager; none without an address. */
function alertmanagerPage(group: JsonFields): Link[] {
  const receiver = asText(group["receiver"]).toWellFormed();
  const href = `${asText(group["externalURL"])}/#/alerts?receiver=${encodeURIComponent(receiver)}`;
  return isWebAddress(href) ? [{ href, text: "Alertmanager" }] : [];
}
