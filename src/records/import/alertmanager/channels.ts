import type { ImportedProject } from "../importer.ts";
import type { SecretNames } from "../secrets.ts";
import type { Part } from "./part.ts";

type ChannelFields = Omit<NonNullable<ImportedProject["integrations"]>[number], "name">;

interface Context {
  /** The configuration's `global`. */
  global: Part;
  secrets: SecretNames;
  /** The receiver's. */
  name: string;
}

/** One kind of receiver as a kind of channel. */
export interface ChannelMaker {
  /** `left`: sentences on what is another thing here; empty where nothing is. */
  make(config: Part, context: Context): { channels: ChannelFields[]; left: string[] };
  /** Whether Alertmanager tells the end of an alert unless told. */
  sendsEnds: boolean;
  /** Fields that say what a message says. */
  texts: readonly string[];
}

/** What they do the box does itself. */
export const PAGERS = ["pagerduty_configs", "opsgenie_configs", "victorops_configs"];

const TITLED = ["title", "text", "message", "summary"];

export const makers: Readonly<Record<string, ChannelMaker>> = {
  webhook_configs: { make: webhook, sendsEnds: true, texts: ["payload"] },
  slack_configs: {
    make: slack,
    sendsEnds: false,
    texts: [...TITLED, "pretext", "fallback", "fields", "actions", "blocks"],
  },
  telegram_configs: { make: telegram, sendsEnds: true, texts: TITLED },
  email_configs: { make: email, sendsEnds: false, texts: ["html", "text", "headers"] },
  discord_configs: { make: incoming("discord"), sendsEnds: true, texts: [...TITLED, "content"] },
  mattermost_configs: { make: incoming("mattermost"), sendsEnds: true, texts: TITLED },
  msteams_configs: {
    make: incoming("teams", "It was a connector, which Microsoft has shut down: make a workflow."),
    sendsEnds: true,
    texts: TITLED,
  },
  msteamsv2_configs: { make: incoming("teams"), sendsEnds: true, texts: TITLED },
  pushover_configs: { make: pushover, sendsEnds: true, texts: [...TITLED, "html"] },
};

/** What is set in the receiver, or for all of them; null: not in the file. */
interface Found {
  value: string | null;
  /** Where it is, if it isn't in the file. */
  where: string;
}

/** How Alertmanager shows a configuration to whoever asks for it. */
const HIDDEN = "<secret>";

function find(config: Part, field: string, global?: { part: Part; field: string }): Found {
  const own = [{ part: config, field }, ...(global === undefined ? [] : [global])];
  // What stands in for all is heard of, also where a receiver has its own.
  for (const one of own)
    for (const field of [one.field, `${one.field}_file`]) one.part.field(field).text();
  for (const one of own) {
    const value = one.part.field(one.field).text();
    if (value === HIDDEN) return { value: null, where: "it isn't shown in this file" };
    if (value !== "") return { value, where: "" };
    const file = one.part.field(`${one.field}_file`).text();
    if (file !== "") return { value: null, where: `Alertmanager reads it from ${file}` };
  }
  return { value: null, where: "it isn't in this file" };
}

function refer(
  { secrets, name }: Pick<Context, "secrets" | "name">,
  words: readonly [kind: string, field: string],
  { value, where }: Found,
) {
  const [kind, field] = words;
  const what = `${kind}${name === "" ? "" : ` of receiver ${name}`}: its ${field.replaceAll("_", " ")}${where === "" ? "" : `; ${where}`}`;
  return secrets.refer([kind, name, field], { value, what });
}

function webhook(config: Part) {
  const { value, where } = find(config, "url");
  if (value === null)
    return { channels: [], left: [`Left out: ${where}. box integration add makes it.`] };
  if (value.includes("/v1/in/"))
    return { channels: [], left: ["Left out: it is the way to this box, or another."] };
  return {
    channels: [{ type: "webhook", url: value }],
    left: [
      "The body is the box's own, one alert in each, and signed; whoever reads it has to learn that.",
    ],
  };
}

function slack(config: Part, context: Context) {
  const { global } = context;
  const url = find(config, "api_url", { part: global, field: "slack_api_url" });
  const app = find(config, "app_token", { part: global, field: "slack_app_token" });
  const authorization = config.field("http_config").field("authorization");
  // An address that isn't shown is that of an app where it comes with a token.
  const isApi =
    url.value === null ? !authorization.isEmpty : url.value.endsWith("/chat.postMessage");
  const channel = config.field("channel").text();
  if (isApi || app.value !== null) {
    const token = app.value === null ? find(authorization, "credentials") : app;
    const fields = {
      bot_token: refer(context, ["slack", "bot_token"], token),
      channel: refer(context, ["slack", "channel"], {
        value: channel || null,
        where: channel === "" ? "it isn't in this file" : "",
      }),
    };
    return { channels: [{ type: "slack", ...fields }], left: [] };
  }
  const fields = { webhook_url: refer(context, ["slack", "webhook_url"], url) };
  const left =
    channel === ""
      ? []
      : [`Its channel (${channel}) is that of the webhook: Slack lets no webhook choose.`];
  return { channels: [{ type: "slack", ...fields }], left };
}

function telegram(config: Part, context: Context) {
  const token = find(config, "bot_token", { part: context.global, field: "telegram_bot_token" });
  const fields = {
    token: refer(context, ["telegram", "token"], token),
    chat_id: refer(context, ["telegram", "chat_id"], find(config, "chat_id")),
  };
  return { channels: [{ type: "telegram", ...fields }], left: [] };
}

function incoming(type: string, left?: string): ChannelMaker["make"] {
  return (config, context) => {
    const webhook_url = refer(context, [type, "webhook_url"], find(config, "webhook_url"));
    return { channels: [{ type, webhook_url }], left: left === undefined ? [] : [left] };
  };
}

function pushover(config: Part, context: Context) {
  const fields = {
    token: refer(context, ["pushover", "token"], find(config, "token")),
    user: refer(context, ["pushover", "user"], find(config, "user_key")),
  };
  return { channels: [{ type: "pushover", ...fields }], left: [] };
}

/** A channel for each address; the server is usually said once for all. */
function email(config: Part, context: Context) {
  // Once for all receivers that have the same server.
  const all = { ...context, name: "" };
  const of = (field: string) =>
    find(config, field, { part: context.global, field: `smtp_${field}` });
  const smarthost = of("smarthost");
  const [, host = "", port = ""] = /^(.*?)(?::(\d+))?$/.exec(smarthost.value ?? "") ?? [];
  const known = (value: string): Found => ({ value, where: "" });
  const needsTls = config
    .field("require_tls")
    .flag(context.global.field("smtp_require_tls").flag(true));
  const tls = port === "465" ? "implicit" : needsTls ? "starttls" : "none";
  const [user, from] = [of("auth_username"), of("from")];
  const mailbox = (text: string) => (/<([^>]+)>/.exec(text)?.[1] ?? text).trim();
  const server = {
    host: refer(all, ["smtp", "host"], host === "" ? smarthost : known(host)),
    ...(port !== "" && { port: refer(all, ["smtp", "port"], known(port)) }),
    tls: refer(all, ["smtp", "tls"], known(tls)),
    ...(user.value !== null && {
      user: refer(all, ["smtp", "user"], user),
      password: refer(all, ["smtp", "password"], of("auth_password")),
    }),
    from: refer(all, ["smtp", "from"], from.value === null ? from : known(mailbox(from.value))),
  };
  const addresses = config
    .field("to")
    .text()
    .split(",")
    .map(mailbox)
    .filter((to) => to !== "");
  const channels = addresses.map((to) => ({
    type: "email",
    ...server,
    to: refer(context, ["email", "to"], known(to)),
  }));
  return { channels, left: channels.length > 0 ? [] : ["Left out: it says no address."] };
}
