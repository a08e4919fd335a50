import { fits, isStorable } from "../../../ground/kit/text.ts";
import { type ReadYaml, readYaml, YamlFault } from "../../config-file/yaml.ts";
import { type GivenFile, ImportFault } from "../given-file.ts";
import { isFields, Unread } from "../unread.ts";

/** Alertmanager's defaults, which the report of unread fields leaves out. It includes them in the configuration that it shows. */
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

/** Whether a field needs no mention: nothing is set, or what Alertmanager sets itself. */
const isUsual = (value: unknown, key: string): boolean => !isSet(value, key);

function isSet(value: unknown, key: string): boolean {
  if (Array.isArray(value)) return value.some((one) => isSet(one, ""));
  if (isFields(value)) return Object.entries(value).some(([name, inner]) => isSet(inner, name));
  if (value === null || value === undefined) return false;
  const text = String(value);
  if (/^\{\{ template "\w+\.default\.\w+" \. \}\}$/.test(text)) return false;
  return !NOTHING.includes(text) && text !== USUAL[key];
}

/** How the report calls the places of fields: by names from the file instead of numbers. */
const PLACES: Readonly<Record<string, string>> = {
  receivers: "receiver",
  routes: "route",
  inhibit_rules: "inhibit rules",
  time_intervals: "time interval",
  mute_time_intervals: "time interval",
};

/** The name of a field's place. `what`: that of the part which has it. */
function fieldPlace(what: string, key: string): string {
  if (what === "route" && key === "routes") return "route";
  if (what.startsWith("time interval") && key === "time_intervals") return what;
  const name = PLACES[key] ?? key;
  return what === "" ? name : `${what}, ${name}`;
}

/** The name of an item of a list, with its own name. */
function itemPlace(what: string, one: unknown): string {
  const name = isFields(one) ? one["name"] : undefined;
  const isNamed = what === "receiver" || what === "time interval";
  return isNamed && typeof name === "string" ? `${what} ${name}` : what;
}

interface Place {
  pointer: string;
  value: unknown;
  /** The words of the report for it: "receiver team, slack_configs". */
  what: string;
  /** The thing that has it as a field, and the field's name. */
  of: Readonly<Record<string, unknown>> | null;
  key: string;
}

interface Whole {
  file: string;
  yaml: ReadYaml;
  unread: Unread;
}

/** A part of a YAML file; every scalar is text. Its errors name the file and line. */
export class Part {
  readonly #whole: Whole;
  readonly #place: Place;
  readonly value: unknown;

  constructor(whole: Whole, place: Place) {
    this.#whole = whole;
    this.#place = place;
    this.value = place.value;
  }

  get isEmpty(): boolean {
    const { of, key } = this.#place;
    if (of !== null) this.#whole.unread.read(of, key);
    return this.value === undefined || this.value === null || this.value === "";
  }

  /** Marks all of it as read, because the report mentions it as a whole. */
  leave(): this {
    if (!this.isEmpty && typeof this.value === "object") this.#whole.unread.leave(this.value);
    return this;
  }

  /** The set fields of the file that were never read, by their place. */
  unread(): { kind: string; fields: string[] }[] {
    return this.#whole.unread.rest(TOLD);
  }

  fault(sentence: string): ImportFault {
    const { file, yaml } = this.#whole;
    return new ImportFault(`${file}: line ${yaml.lineOf(this.#place.pointer)}: ${sentence}`);
  }

  /** A field by name; an empty part where it is missing. */
  field(name: string): Part {
    const value = this.#record()[name];
    return this.#below(name, Object.hasOwn(this.#record(), name) ? value : undefined);
  }

  fields(): [name: string, part: Part][] {
    return Object.entries(this.#record()).map(([name, value]) => [name, this.#below(name, value)]);
  }

  list(): Part[] {
    if (this.isEmpty) return [];
    if (!Array.isArray(this.value)) throw this.fault(`${this.#name()} must be a list`);
    return this.value.map((value, i) => this.#below(String(i), value));
  }

  /** The text; "" where there is none. */
  text(): string {
    if (this.isEmpty) return "";
    if (typeof this.value !== "string") throw this.fault(`${this.#name()} must be a text`);
    if (!isStorable(this.value))
      throw this.fault(`${this.#name()} holds a character that can't be stored`);
    return this.value;
  }

  texts(): string[] {
    return this.list().map((part) => part.text());
  }

  labels(): string[] {
    return this.list().map((part) => mustBeLabel(part.text(), part));
  }

  flag(usual: boolean): boolean {
    return this.isEmpty ? usual : /^(true|yes|on|y)$/i.test(this.text());
  }

  #record(): Record<string, unknown> {
    if (this.isEmpty) return {};
    if (!isFields(this.value)) throw this.fault(`${this.#name()} must have fields`);
    this.#whole.unread.saw(this.value, this.#place.what || "the configuration");
    return this.value;
  }

  #below(key: string, value: unknown): Part {
    const of = isFields(this.value) ? this.value : null;
    const { what: around } = this.#place;
    const what = of === null ? itemPlace(around, value) : fieldPlace(around, key);
    const pointer = `${this.#place.pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return new Part(this.#whole, { pointer, value, what, of, key });
  }

  #name(): string {
    return this.#place.pointer.replace(/^.*\/(?=[^/\d])/, "") || "the file";
  }
}

/** Returns the label's name. Throws ImportFault where the box doesn't allow it as a key. */
export function mustBeLabel(name: string, part: Part): string {
  if (name !== "" && fits(name, 256)) return name;
  throw part.fault(`"${name}" can't be a label's name`);
}

/** Throws ImportFault where the file isn't YAML. */
export function partOf({ name, text }: GivenFile): Part {
  try {
    const yaml = readYaml(text, { asText: true });
    // Parts that an alias repeats are told apart.
    const value = JSON.parse(JSON.stringify(yaml.value ?? null)) as unknown;
    const what = Array.isArray(value) ? "silences" : "";
    const whole = { file: name, yaml, unread: new Unread(isUsual) };
    return new Part(whole, { pointer: "", value, what, of: null, key: "" });
  } catch (error) {
    if (error instanceof YamlFault) throw new ImportFault(`${name}: ${error.message}`);
    // YAML aliases of aliases that would fill the memory.
    if (error instanceof ReferenceError) throw new ImportFault(`${name}: ${error.message}`);
    throw error;
  }
}
