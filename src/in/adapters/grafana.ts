import type { IngestEvent } from "../ingest/event.ts";
import { namedLimits } from "../ingest/named-fields.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  type Rejected,
  UnreadableBody,
} from "./adapter.ts";
import { fitted, type Loose } from "./fit.ts";
import { grafanaLegacy } from "./grafana-legacy.ts";
import { asText, type JsonFields, jsonBody, listOf, objectOf, textPairs } from "./json.ts";
import { type LabelledAlert, labelledEvent, readLabelled, spokenFor } from "./labels.ts";
import { jsonReply } from "./replies.ts";
import { isSigned, isSignedAt } from "./signature.ts";

/** Grafana's webhook: of its present alerting, which extends Alertmanager's format, and of the one before. */
export const grafana: Adapter = {
  kind: "grafana",
  title: "Grafana alerting",
  identity: {
    title: ["annotations.summary", "annotations.title", "annotations.message", "ruleName"],
    labels: ["alertname", "instance", "service", "job", "grafana.folder"],
    named: "all",
  },
  room: "project",
  caps: alertCaps,
  isSigned(request, secret) {
    const name = "x-grafana-alerting-signature";
    const time = "x-grafana-alerting-signature-timestamp";
    return request.header(time) === undefined
      ? isSigned(request, { secret, name })
      : isSignedAt(request, { secret, name, time });
  },
  decode,
  setUp: ({ base, token }) => ({
    where:
      "a file in provisioning/alerting, or the same by hand: Alerting, Contact points, Webhook",
    paste: [
      "apiVersion: 1",
      "contactPoints:",
      "- orgId: 1",
      "  name: box",
      "  receivers:",
      "  - uid: box",
      "    type: webhook",
      "    settings:",
      `      url: ${base}/v1/in/grafana`,
      "      httpMethod: POST",
      "      authorization_scheme: Bearer",
      `      authorization_credentials: ${token}`,
    ].join("\n"),
    notes: [
      "Each series that fires is one alert here, and ends when Grafana says so. No data, and errors of a data source, are warnings.",
      "The contact point's Test button sends an alert named TestAlert. A rule for everything matches it.",
      "Grafana tries once: what it sends while the box is off is lost. After the next group_interval (5 minutes) it sends again what still fires, and not what has ended.",
      "If the contact point has an HMAC secret, set the same one with `box source secret`. Then the box takes only signed requests. Leave the names of the headers as they are (timestamp in X-Grafana-Alerting-Signature-Timestamp).",
      "A contact point with a custom payload needs a source of kind hook. The box understands the alerting of Grafana 8 and before at the same address.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  if (request.method !== "POST" && request.method !== "PUT")
    throw new UnreadableBody({ why: "method", allowed: ["POST", "PUT"] });
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  const group = objectOf(jsonBody(request.body));
  const alerts = listOf(group?.["alerts"]);
  if (group !== null && alerts === null && ("ruleId" in group || "ruleName" in group))
    return grafanaLegacy(group, request);
  if (group === null || alerts === null)
    throw new UnreadableBody(
      "The body has no list of alerts. A contact point with a custom payload needs a source of kind hook.",
    );
  const events: IngestEvent[] = [];
  const rejected: Rejected[] = [];
  for (const element of alerts) {
    const alert = readLabelled(element);
    if ("reason" in alert) rejected.push(alert);
    else events.push(fitted(eventOf(cleaned(alert, group), group, request.at), request.watched));
  }
  if (Number(asText(group["truncatedAlerts"])) > 0)
    rejected.push({ reason: `${asText(group["truncatedAlerts"])} members were left out` });
  return { events, rejected, answer: (taken) => jsonReply(200, taken) };
}

/** Without labels that begin and end with two underscores, which are internal to Grafana. */
function cleaned(alert: LabelledAlert, group: JsonFields): LabelledAlert {
  const own = (pairs: ReadonlyMap<string, string>) =>
    new Map([...pairs].filter(([name]) => !/^__.*__$/.test(name)));
  return {
    ...alert,
    labels: own(alert.labels),
    annotations: own(alert.annotations),
    generatorUrl: address(alert.generatorUrl, group) ?? "",
  };
}

/** Characters of a group's title that are read. */
const LONGEST_TITLE = 1000;

function eventOf(alert: LabelledAlert, group: JsonFields, at: number): Loose {
  const { fields, labels } = alert;
  const event = labelledEvent(alert, {
    named: spokenFor(alert, group, at),
    tag: "grafana",
    keys: [
      ...textPairs(fields["values"]).map(([ref, text]) => [`value.${ref}`, text] as const),
      ["grafana.folder", labels.get("grafana_folder") ?? ""] as const,
      ["rule_uid", asText(fields["ruleUID"])] as const,
      ["org_id", asText(fields["orgId"] ?? group["orgId"])] as const,
    ].filter(([, text]) => text !== ""),
  });
  const [firstLine = ""] = asText(group["title"]).slice(0, LONGEST_TITLE).trim().split("\n");
  const image = asText(fields["imageURL"]);
  return {
    ...event,
    ...(event.message === "" && firstLine !== "" ? { message: firstLine } : {}),
    ...ofDatasource(alert, event.level),
    links: [...(event.links ?? []), ...pages(fields, group)],
    images: [...(event.images ?? []), ...(image === "" ? [] : [{ src: image }])],
  };
}

const DATASOURCE = ["DatasourceNoData", "DatasourceError"];

/** "No data" is a warning, unless the rule names another severity. */
function ofDatasource({ labels }: LabelledAlert, level: number): Partial<Loose> {
  if (!DATASOURCE.includes(labels.get("alertname") ?? "")) return {};
  return {
    title: "",
    message: `no data: ${labels.get("rulename") ?? labels.get("alertname") ?? ""}`,
    level: labels.has("severity") ? Math.max(300, level) : 300,
  };
}

const PAGES = [
  ["dashboardURL", "Dashboard"],
  ["panelURL", "Panel"],
  ["silenceURL", "Silence"],
] as const;

function pages(fields: JsonFields, group: JsonFields) {
  return PAGES.flatMap(([name, text]) => {
    const href = address(asText(fields[name]), group);
    return href === null ? [] : [{ href, text }];
  });
}

/** An address without scheme and host is relative to Grafana's own. */
function address(text: string, group: JsonFields): string | null {
  const base = asText(group["externalURL"]);
  if (text === "" || text.length + base.length > 2 * namedLimits.href) return null;
  return URL.parse(text)?.href ?? URL.parse(text, base)?.href ?? null;
}
