import type { Adapter } from "./adapter.ts";
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

/** Every format that the box understands beside its own: the one list, by the kind in addresses and on sources. */
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

/** Kinds that need no adapter: the box's own format, which `/v1/ingest` takes, and what jobs say by `/ping`. */
const OWN: readonly string[] = ["events", "heartbeats"];

/** What a source may be. */
export const sourceKinds: readonly string[] = [...OWN, ...adapters.map(({ kind }) => kind)];

/** Kinds whose senders can sign what they send. */
export const signers: readonly string[] = adapters.flatMap(({ kind, isSigned }) =>
  isSigned === undefined ? [] : [kind],
);

export function findAdapter(kind: string): Adapter | null {
  return adapters.find((adapter) => adapter.kind === kind) ?? null;
}

/** Where the names of alerts usually hold for a source of this kind; null for an unknown kind. */
export function usualRoom(kind: string): Adapter["room"] | null {
  return OWN.includes(kind) ? "project" : (findAdapter(kind)?.room ?? null);
}
