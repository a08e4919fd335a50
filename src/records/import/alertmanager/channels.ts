import type { ImportedProject } from "../importer.ts";
import type { SecretNames } from "../secrets.ts";
import type { Part } from "./part.ts";

type ChannelFields = Omit<NonNullable<ImportedProject["integrations"]>[number], "name">;

interface Context {
  /** The configuration's section `global`. */
  global: Part;
  secrets: SecretNames;
  /** The receiver's name. */
  name: string;
}

/** How one kind of receiver becomes a kind of channel. */
export interface ChannelMaker {
  /** `left`: sentences on what is different here. */
  make(config: Part, context: Context): { channels: ChannelFields[]; left: string[] };
  /** Whether Alertmanager reports an alert's end by default. */
  sendsEnds: boolean;
  /** Fields with a message's texts. */
  texts: readonly string[];
}

/** The box does itself what these do. */
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

/** A setting of the receiver or of `global`; null: not in the file. */
interface Found {
  value: string | null;
  /** Where the value is instead; "" where it is in the file. */
  where: string;
}

/** Alertmanager shows secrets like this. */
const HIDDEN = "<secret>";

function find(config: Part, field: string, global?: { part: Part; field: string }): Found {
  const own = [{ part: config, field }, ...(global === undefined ? [] : [global])];
  // The global field counts as read even where the receiver has its own.
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
    return { channels: [], left: ["Left out: it calls this box, or another one."] };
  return {
    channels: [{ type: "webhook", url: value }],
    left: [
      "The body has the box's own form, with one alert, and is signed: the receiver must be adapted.",
    ],
  };
}

function slack(config: Part, context: Context) {
  const { global } = context;
  const url = find(config, "api_url", { part: global, field: "slack_api_url" });
  const app = find(config, "app_token", { part: global, field: "slack_app_token" });
  const authorization = config.field("http_config").field("authorization");
  // A hidden address with a token is that of a Slack app.
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

/** Makes a channel for each address. The server usually stands in `global`. */
function email(config: Part, context: Context) {
  // Without the receiver's name: receivers with the same server share its variables.
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
  return { channels, left: channels.length > 0 ? [] : ["Left out: it has no address."] };
}
