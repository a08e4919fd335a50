/** The unread fields of one part of a configuration. */
export interface UnreadFields {
  /** "receiver team, slack_configs", "route", "global". */
  what: string;
  fields: string[];
}

type Fields = Readonly<Record<string, unknown>>;

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
const TOLD = ["group_wait", "group_interval", "id", "updatedAt"];

/** Records which parts of a file were read, by JSON pointer. The report lists all others. */
export class AskedParts {
  readonly #asked = new Set<string>();
  readonly #left = new Set<string>();

  for(pointer: string): void {
    this.#asked.add(pointer);
  }

  leave(pointer: string): void {
    this.#left.add(pointer);
  }

  rest(root: unknown): UnreadFields[] {
    const found = new Map<string, Set<string>>();
    const walk = (value: unknown, at: string, what: string): void => {
      if (this.#left.has(at)) return;
      if (Array.isArray(value)) {
        for (const [i, one] of value.entries()) walk(one, below(at, String(i)), titleOf(what, one));
        return;
      }
      if (!isFields(value)) return;
      for (const [key, inner] of Object.entries(value)) {
        const pointer = below(at, key);
        if (this.#left.has(pointer) || TOLD.includes(key) || !isSet(inner, key)) continue;
        if (this.#asked.has(pointer)) walk(inner, pointer, placeOf(what, key));
        else found.set(what, new Set([...(found.get(what) ?? []), ...namesOf(key, inner)]));
      }
    };
    walk(root, "", Array.isArray(root) ? "silences" : "");
    return [...found].map(([what, fields]) => ({
      what: what || "the configuration",
      fields: [...fields].sort(),
    }));
  }
}

export const below = (pointer: string, name: string): string =>
  `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `http_config.proxy_url`: the fields of a value that are set. */
function namesOf(key: string, value: unknown): string[] {
  if (!isFields(value)) return [key];
  return Object.entries(value).flatMap(([name, inner]) =>
    isSet(inner, name) ? [`${key}.${name}`] : [],
  );
}

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

function placeOf(what: string, key: string): string {
  if (what === "route" && key === "routes") return "route";
  if (what.startsWith("time interval") && key === "time_intervals") return what;
  const name = PLACES[key] ?? key;
  return what === "" ? name : `${what}, ${name}`;
}

function titleOf(what: string, one: unknown): string {
  const name = isFields(one) ? one["name"] : undefined;
  const isNamed = what === "receiver" || what === "time interval";
  return isNamed && typeof name === "string" ? `${what} ${name}` : what;
}
