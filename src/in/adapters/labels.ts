import { sha256 } from "../../ground/kit/ids.ts";
import { isWebAddress, type NamedState } from "../ingest/named-fields.ts";
import type { Loose } from "./fit.ts";
import { asText, type JsonFields, objectOf, textPairs, timeOf } from "./json.ts";
import { ALERT_LEVEL, levelOfWord } from "./levels.ts";

/**
 * An alert in the format that Prometheus, Alertmanager and Grafana share: labels that name it, annotations that explain
 * it, a start and an end (contract §23).
 */
export interface LabelledAlert {
  labels: ReadonlyMap<string, string>;
  annotations: ReadonlyMap<string, string>;
  startsAt: number | null;
  endsAt: number | null;
  generatorUrl: string;
  fields: JsonFields;
}

/** The alert, or the reason why an element is none. */
export function readLabelled(value: unknown): LabelledAlert | { reason: string } {
  const fields = objectOf(value);
  if (fields === null) return { reason: "an alert must be an object" };
  const labels = new Map(textPairs(fields["labels"]).filter(([, text]) => text !== ""));
  if (labels.size === 0) return { reason: "at least one label pair required" };
  const startsAt = timeOf(fields["startsAt"]);
  const endsAt = timeOf(fields["endsAt"]);
  return {
    labels,
    annotations: new Map(textPairs(fields["annotations"])),
    startsAt,
    endsAt,
    generatorUrl: asText(fields["generatorURL"]),
    fields,
  };
}

const TITLES = ["summary", "title", "message"];
const NAMES = ["alertname", "instance", "job"];
const SEVERITIES = ["severity", "priority", "level"];
const LINKS = ["runbook_url", "runbook", "dashboard", "dashboard_url"];
const IMAGES = ["image", "image_url"];
const LONGEST_STATUS = 64;

/** By the alert's status, else the group's, else its end. */
function isOver(alert: LabelledAlert, group: JsonFields, at: number): boolean {
  const word = (asText(alert.fields["status"]) || asText(group["status"])).slice(0, LONGEST_STATUS);
  if (word !== "") return word.toLowerCase() === "resolved";
  return alert.endsAt !== null && alert.endsAt <= at;
}

/**
 * The state of an alert from a sender that combines several servers. The sender keeps the earliest start of any of
 * them, and may report that start only when the alert has ended.
 */
export function spokenFor(alert: LabelledAlert, group: JsonFields, at: number): NamedState {
  const { fields, startsAt, endsAt } = alert;
  const over = isOver(alert, group, at);
  return {
    action: over ? "resolve" : "fire",
    dedupKey: asText(fields["fingerprint"]) || nameOf(alert),
    instance: startsAt === null ? null : String(startsAt),
    ...(over ? { endedAt: endsAt } : {}),
    expiresAt: null,
  };
}

/** What the sender calls the alert; empty where no annotation says it. */
function ownTitle({ annotations }: LabelledAlert): string {
  return TITLES.map((name) => annotations.get(name)?.trim()).find(Boolean) ?? "";
}

/** The line that a person reads first. */
function alertTitle(alert: LabelledAlert): string {
  const { labels, annotations } = alert;
  const own = ownTitle(alert);
  if (own !== "") return own;
  const [firstLine = ""] = (annotations.get("description") ?? "").trim().split("\n");
  if (firstLine !== "") return firstLine;
  if (labels.has("alertname")) return NAMES.flatMap((name) => labels.get(name) ?? []).join(" ");
  return [...labels]
    .sort(byName)
    .map(([name, text]) => `${name}=${text}`)
    .join(" ");
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** From the first label that names a severity. The Watchdog's `none` means that nothing is wrong. */
function severityOf({ labels }: LabelledAlert): number {
  const word = SEVERITIES.map((name) => labels.get(name)).find((text) => text !== undefined);
  if (word === undefined) return ALERT_LEVEL;
  return word.toLowerCase() === "none" ? 100 : (levelOfWord(word) ?? ALERT_LEVEL);
}

/** A name made from the labels, independent of their order. */
export function nameOf({ labels }: LabelledAlert): string {
  return sha256(
    [...labels]
      .sort(byName)
      .map(([name, text]) => `${name}=${text}\n`)
      .join(""),
  );
}

/** The text below the title: the description, then every other annotation that isn't shown elsewhere. */
function detailsOf(alert: LabelledAlert): string {
  const title = alertTitle(alert);
  const { annotations } = alert;
  const shown = new Set(["description", ...LINKS, ...IMAGES]);
  const others = [...annotations]
    .filter(([name, text]) => !shown.has(name) && text !== "" && text.trim() !== title)
    .map(([name, text]) => `${name}: ${text}`);
  const description = annotations.get("description")?.trim() ?? "";
  return [description === title ? "" : description, ...others]
    .filter((part) => part !== "")
    .join("\n");
}

/** The annotations that are addresses a person may want to open. */
export function linksOf({ annotations, generatorUrl }: LabelledAlert) {
  const named = [...annotations].filter(
    ([name, text]) =>
      (LINKS.includes(name) || name.endsWith("_url")) &&
      !IMAGES.includes(name) &&
      isWebAddress(text),
  );
  return [
    { href: generatorUrl, text: "Source" },
    ...named.map(([name, href]) => ({
      href,
      text: name.replaceAll("_", " ").replace(/ url$/, ""),
    })),
  ].filter(({ href }) => isWebAddress(href));
}

/** The alert as an event. `action`, name and the keys besides its labels depend on the sender. */
export function labelledEvent(
  alert: LabelledAlert,
  {
    named,
    tag,
    keys,
  }: { named: NamedState; tag: string; keys: readonly (readonly [string, string])[] },
): Loose {
  const images = IMAGES.flatMap((name) => alert.annotations.get(name) ?? []);
  return {
    message: alertTitle(alert),
    title: ownTitle(alert),
    level: severityOf(alert),
    keys: [
      ...alert.labels,
      ...keys,
      ...[...alert.annotations].map(([name, text]) => [`annotation.${name}`, text] as const),
    ],
    tags: [tag],
    named,
    details: detailsOf(alert),
    links: linksOf(alert),
    images: images.filter((src) => src.startsWith("https:")).map((src) => ({ src })),
    occurredAt: alert.startsAt,
  };
}
