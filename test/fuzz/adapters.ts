import { findAdapter } from "../../src/in/adapters/list.ts";
import { decodesCleanly } from "../in/adapters/clean.ts";
import { samples } from "../in/adapters/samples.ts";

/** A body of this kind comes to events within the limits or to a refusal; the first byte says to which path it goes. */
function bodyOf(kind: string): (bytes: Buffer) => void {
  const adapter = findAdapter(kind);
  const requests = samples[kind] ?? [];
  if (adapter === null) throw new Error(`there is no adapter ${kind}`);
  return (bytes) => {
    const request = requests[(bytes[0] ?? 0) % requests.length];
    if (request !== undefined) decodesCleanly(adapter, { ...request, body: bytes.subarray(1) });
  };
}

export const alertmanagerBody = bodyOf("alertmanager");
export const prometheusBody = bodyOf("prometheus");
export const pagerdutyBody = bodyOf("pagerduty");
export const grafanaBody = bodyOf("grafana");
export const hookBody = bodyOf("hook");
export const slackBody = bodyOf("slack");
export const discordBody = bodyOf("discord");
export const gotifyBody = bodyOf("gotify");
export const ntfyBody = bodyOf("ntfy");
export const opsgenieBody = bodyOf("opsgenie");
export const oncallBody = bodyOf("oncall");
export const victoropsBody = bodyOf("victorops");
export const syslogBody = bodyOf("syslog");
export const otlpBody = bodyOf("otlp");
export const elasticsearchBody = bodyOf("elasticsearch");
export const gelfBody = bodyOf("gelf");
export const lokiBody = bodyOf("loki");
export const sentryBody = bodyOf("sentry");
export const cloudeventsBody = bodyOf("cloudevents");
export const snsBody = bodyOf("sns");
export const goalertBody = bodyOf("goalert");
export const emailBody = bodyOf("email");
