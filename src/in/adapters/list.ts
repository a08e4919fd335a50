import type { Adapter, SenderIdentity } from "./adapter.ts";
import { alertmanager } from "./alertmanager.ts";
import { cloudevents } from "./cloudevents.ts";
import { discordMessages } from "./discord.ts";
import { elasticsearch } from "./elasticsearch.ts";
import { incomingMail } from "./email.ts";
import { gelf } from "./gelf.ts";
import { goalert } from "./goalert.ts";
import { gotifyMessages } from "./gotify.ts";
import { grafana } from "./grafana.ts";
import { hook } from "./hook.ts";
import { loki } from "./loki.ts";
import { ntfyMessages } from "./ntfy.ts";
import { oncall } from "./oncall.ts";
import { opsgenie } from "./opsgenie.ts";
import { otlp } from "./otlp.ts";
import { pagerduty } from "./pagerduty.ts";
import { prometheus } from "./prometheus.ts";
import { sentry } from "./sentry.ts";
import { slackMessages } from "./slack.ts";
import { sns } from "./sns.ts";
import { syslog } from "./syslog.ts";
import { victorops } from "./victorops.ts";

/** Every format besides the box's own, by the kind in addresses and on sources. */
export const adapters: readonly Adapter[] = [
  alertmanager,
  prometheus,
  pagerduty,
  grafana,
  opsgenie,
  oncall,
  victorops,
  goalert,
  hook,
  slackMessages,
  discordMessages,
  gotifyMessages,
  ntfyMessages,
  sentry,
  cloudevents,
  sns,
  incomingMail,
  syslog,
  otlp,
  loki,
  gelf,
  elasticsearch,
];

/** Kinds without an adapter: the box's own format at `/v1/ingest`, and reports of jobs at `/ping`. */
const ownIdentities: Readonly<Record<string, SenderIdentity>> = {
  events: { title: ["title"], labels: [], named: "some" },
  heartbeats: { title: [], labels: ["heartbeat"], named: "all" },
};
const OWN = Object.keys(ownIdentities);

/** The kinds of sources. */
export const sourceKinds: readonly string[] = [...OWN, ...adapters.map(({ kind }) => kind)];

/** Kinds whose senders can sign requests. */
export const signers: readonly string[] = adapters.flatMap(({ kind, isSigned }) =>
  isSigned === undefined ? [] : [kind],
);

export function findAdapter(kind: string): Adapter | null {
  return adapters.find((adapter) => adapter.kind === kind) ?? null;
}

/** How alerts of a kind of source are told apart; null for an unknown kind. */
export function identityOf(kind: string): SenderIdentity | null {
  return Object.hasOwn(ownIdentities, kind)
    ? (ownIdentities[kind] as SenderIdentity)
    : (findAdapter(kind)?.identity ?? null);
}

/** The usual scope of alerts' names for a kind of source; null for an unknown kind. */
export function usualNameScope(kind: string): Adapter["room"] | null {
  return OWN.includes(kind) ? "project" : (findAdapter(kind)?.room ?? null);
}
