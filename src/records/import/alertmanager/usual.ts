import { isFields } from "../unread.ts";

/** What the report of unread fields leaves out, and how it calls the places of the others. */

/** Alertmanager's defaults. It includes them in the configuration that it shows. */
const USUAL: Readonly<Record<string, string>> = {
  resolve_timeout: "5m",
  smtp_hello: "localhost",
  hello: "localhost",
  type: "Bearer",
  follow_redirects: "true",
  enable_http2: "true",
  parse_mode: "HTML",
  retry: "1m",
  expire: "1h",
  api_url: "https://api.telegram.org",
  color: '{{ if eq .Status "firing" }}danger{{ else }}good{{ end }}',
  priority: '{{ if eq .Status "firing" }}2{{ else }}0{{ end }}',
  pagerduty_url: "https://events.pagerduty.com/v2/enqueue",
  opsgenie_api_url: "https://api.opsgenie.com/",
  wechat_api_url: "https://qyapi.weixin.qq.com/cgi-bin/",
  victorops_api_url: "https://alert.victorops.com/integrations/generic/20131114/alert/",
  telegram_api_url: "https://api.telegram.org",
  webex_api_url: "https://webexapis.com/v1/messages",
  rocketchat_api_url: "https://open.rocket.chat/",
  mattermost_api_url: "",
};
const NOTHING = ["", "false", "0", "0s", "0B"];
/** The report mentions these once for all, or nobody misses them. */
export const TOLD = ["group_wait", "group_interval", "id", "updatedAt"];

/** Whether a field needs no mention: nothing is set, or what Alertmanager sets itself. */
export const isUsual = (value: unknown, key: string): boolean => !isSet(value, key);

function isSet(value: unknown, key: string): boolean {
  if (Array.isArray(value)) return value.some((one) => isSet(one, ""));
  if (isFields(value)) return Object.entries(value).some(([name, inner]) => isSet(inner, name));
  if (value === null || value === undefined) return false;
  const text = String(value);
  if (/^\{\{ template "\w+\.default\.\w+" \. \}\}$/.test(text)) return false;
  return !NOTHING.includes(text) && text !== USUAL[key];
}

/** The report uses names from the file instead of numbers. */
const PLACES: Readonly<Record<string, string>> = {
  receivers: "receiver",
  routes: "route",
  inhibit_rules: "inhibit rules",
  time_intervals: "time interval",
  mute_time_intervals: "time interval",
};

/** The name of a field's place. `what`: that of the part which has it. */
export function fieldPlace(what: string, key: string): string {
  if (what === "route" && key === "routes") return "route";
  if (what.startsWith("time interval") && key === "time_intervals") return what;
  const name = PLACES[key] ?? key;
  return what === "" ? name : `${what}, ${name}`;
}

/** The name of an item of a list, with its own name. */
export function itemPlace(what: string, one: unknown): string {
  const name = isFields(one) ? one["name"] : undefined;
  const isNamed = what === "receiver" || what === "time interval";
  return isNamed && typeof name === "string" ? `${what} ${name}` : what;
}
