/** Every format besides the box's own: a new one is a file of its own and a line here. */

export { alertmanager } from "./alertmanager.ts";
export { cloudevents } from "./cloudevents.ts";
export { discordMessages } from "./discord.ts";
export { elasticsearch } from "./elasticsearch.ts";
export { incomingMail } from "./email.ts";
export { gelf } from "./gelf.ts";
export { goalert } from "./goalert.ts";
export { gotifyMessages } from "./gotify.ts";
export { grafana } from "./grafana.ts";
export { hook } from "./hook.ts";
export { loki } from "./loki.ts";
export { ntfyMessages } from "./ntfy.ts";
export { oncall } from "./oncall.ts";
export { opsgenie } from "./opsgenie.ts";
export { otlp } from "./otlp.ts";
export { pagerduty } from "./pagerduty.ts";
export { prometheus } from "./prometheus.ts";
export { sentry } from "./sentry.ts";
export { slackMessages } from "./slack.ts";
export { sns } from "./sns.ts";
export { syslog } from "./syslog.ts";
export { victorops } from "./victorops.ts";
