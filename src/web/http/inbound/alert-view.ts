import type { Alert } from "../../../core/alerts/alert.ts";
import { sha256 } from "../../../ground/kit/ids.ts";
import { levelName } from "../../../ground/kit/level.ts";
import { type Matcher, parseMatcher, parsePattern } from "./matchers.ts";

/** An alert in the shape of Alertmanager's API. */
export interface AlertView {
  annotations: Record<string, string>;
  endsAt: string;
  fingerprint: string;
  receivers: { name: string }[];
  startsAt: string;
  status: { inhibitedBy: string[]; silencedBy: string[]; state: "active" | "suppressed" };
  updatedAt: string;
  generatorURL: string;
  labels: Record<string, string>;
}

/** Without a promise of its sender an alert is good for as long as Alertmanager thinks of one: five minutes more. */
const GOOD_FOR = 300;

/**
 * Its project is the receiver, and its labels are its sender's. What somebody has acknowledged is shown as held back, by
 * "acknowledged".
 */
export function alertView(alert: Alert, at: number): AlertView {
  const isTaken = alert.state !== "open";
  const by = alert.silenced_by;
  const inhibitedBy = by?.startsWith("alert:") ? [by.slice("alert:".length)] : [];
  const silencedBy = [
    ...(by === null || inhibitedBy.length > 0 ? [] : [by]),
    ...(isTaken ? ["acknowledged"] : []),
  ];
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  return {
    annotations: {
      summary: alert.last_message.slice(0, 1024),
      ...(alert.details ? { description: alert.details.slice(0, 4096) } : {}),
    },
    endsAt: time(alert.expires_at ?? at + GOOD_FOR),
    fingerprint: sha256(alert.id).slice(0, 16),
    receivers: [{ name: alert.project }],
    startsAt: time(alert.first_seen),
    status: {
      inhibitedBy,
      silencedBy,
      state: inhibitedBy.length + silencedBy.length === 0 ? "active" : "suppressed",
    },
    updatedAt: time(alert.last_seen),
    generatorURL: alert.links[0]?.href ?? "",
    labels: {
      alertname: alert.rule,
      severity: levelName(alert.level),
      ...alert.identifiers,
      ...withoutAnnotations(alert.labels),
      project: alert.project,
    },
  };
}

/** Annotations aren't what Alertmanager calls labels. */
const withoutAnnotations = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith("annotation.")));

/** What a query asks for, or the sentence that says what of it can't be read. */
export function viewFilter(query: URLSearchParams): ((view: AlertView) => boolean) | string {
  const matchers: Matcher[] = [];
  for (const text of query.getAll("filter")) {
    const matcher = parseMatcher(text);
    if (matcher === null) return `bad matcher format: ${text.slice(0, 200)}`;
    matchers.push(matcher);
  }
  const asked = query.get("receiver");
  const isReceiver = asked === null ? () => true : parsePattern(asked);
  if (isReceiver === null) return `failed to parse receiver param: ${asked?.slice(0, 200)}`;
  const wants = (name: string) => query.get(name) !== "false";
  return ({ labels, receivers, status }) =>
    (status.state === "active" ? wants("active") : wants("silenced")) &&
    receivers.some(({ name }) => isReceiver(name)) &&
    matchers.every((matcher) => matcher(labels));
}

/** By project and rule, as one would tell of them together. */
export function viewGroups(views: readonly AlertView[]) {
  const groups = Map.groupBy(views, ({ labels }) =>
    JSON.stringify([labels["project"], labels["alertname"]]),
  );
  return [...groups.values()].map((alerts) => ({
    alerts,
    labels: { alertname: alerts[0]?.labels["alertname"] ?? "" },
    receiver: { name: alerts[0]?.labels["project"] ?? "" },
  }));
}
