import type { Command } from "commander";
import type { Integration } from "../src/core/projects/integration.ts";
import type { DeliveryDetail } from "../src/out/outbox/delivery-detail.ts";
import type { Delivery } from "../src/out/outbox/rows.ts";
import type { Channel } from "../src/out/services/channel.ts";
import { type ChannelList, channels } from "../src/out/services/list.ts";
import { registerActions } from "./actions.ts";
import { api, namedId, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { namedInProject, nounCommands, type Things } from "./noun.ts";
import { apiFlags, flag, type GivenBy, print } from "./options.ts";
import { type Columns, table, tableOf, when } from "./table.ts";

const makeFlags = {
  "--name <name>": "a name for people",
  "--event <kind...>": "only these kinds of events (default: every kind)",
  "--shared": "the channel gets the alerts of every project",
  "--except <project...>": "with --shared: but not of these projects",
};
const textFlags = {
  "--title-template <text>": "your own title, in Mustache",
  "--body-template <text>": "your own body, in Mustache",
};
const stormFlags = {
  "--storm-threshold <n>":
    "alerts per minute that are sent one by one; further ones are combined into one message a minute; 0 = never combine (default 10)",
};
type MakeOptions = GivenBy<typeof makeFlags & typeof textFlags & typeof stormFlags>;

/** `box integration` for channels, and the runbook actions beside them. */
export function registerIntegrations(program: Command, list: ChannelList = channels): void {
  const group = program
    .command("integration")
    .description("channels: where a project's alerts are sent");
  const integration = nounCommands(group, namedInProject("integration"));
  integration.list<Integration>("list channels", {
    ID: ({ id }) => id,
    TYPE: ({ type }) => type,
    NAME: ({ name }) => name,
    URL: ({ url }) => url,
    STATE: ({ enabled }) => (enabled ? "on" : "OFF"),
    EVENTS: ({ event_filter }) => event_filter || "every event",
    FAILURES: ({ consecutive_failures }) => consecutive_failures,
    "LAST ERROR": ({ last_error }) => last_error ?? "",
  });
  for (const kind of list.kinds) addCommand(group, kind);
  integration.verb("test", "send a test event, like a real one", test);
  integration.post(
    "enable",
    "enable a channel; its pending deliveries are sent, except those older than a day",
    (_, __, it) => `enabled ${it}`,
  );
  integration.post(
    "disable",
    "disable a channel; its configuration and credentials stay",
    (_, __, it) => `disabled ${it}`,
  );
  integration.delete("delete a channel with its credentials");
  const listed = "list a channel's deliveries, newest first";
  integration.verb("deliveries", listed, deliveries, deliveriesFlags);
  const delivery = nounCommands(group, deliveryOf);
  delivery.verb(
    "delivery",
    "show what was sent, without credentials, and how the last attempts ended",
    async (place, options) => {
      const answer = await api.get<DeliveryDetail>(options, place);
      print(answer, options, () => detailText(answer));
    },
  );
  delivery.post(
    "resend",
    "send a delivery's event again, with the same id and bytes",
    ({ id }: { id: string }) => `delivery ${id}`,
  );
  registerActions(program);
}

const deliveryOf: Things = {
  of: "<project> <integration>",
  one: "<delivery>",
  at: async ([project = "", named = ""], options) => {
    const id = await namedId(options, { kind: "integration", project }, named);
    return v1("projects", project, "integrations", id, "deliveries");
  },
};

/** Makes `add-telegram` and the like, with the fields that the kind's file lists. */
function addCommand(integration: Command, channel: Channel): void {
  const { kind, about, fields, flags, bodyAsIs, isChat } = channel;
  const words = Object.entries(flags).filter(([, how]) => !how.startsWith("--"));
  const options = Object.entries(flags).flatMap(([field, how]) => {
    if (!how.startsWith("--")) return [];
    const schema = fields.shape[field];
    const option = flag(how, schema?.meta()?.description ?? "", kind);
    return [{ field, option: option.makeOptionMandatory(!schema?.isOptional()) }];
  });
  const name = [
    `add-${kind.replaceAll("_", "-")}`,
    "<project>",
    ...words.map(([, how]) => how),
  ].join(" ");
  const own = { ...makeFlags, ...(bodyAsIs ? {} : textFlags), ...(isChat ? stormFlags : {}) };
  const command = apiFlags(integration.command(name), own).description(`add ${about}`);
  for (const { option } of options) command.addOption(option);
  command.action(async (project: string, ...given: unknown[]) => {
    const set = command.opts<MakeOptions & Record<string, string>>();
    const fieldsGiven = [
      ...words.map(([field], i) => [field, given[i]]),
      ...options.map(({ field, option }) => [field, set[option.attributeName()]]),
    ];
    await add(project, set, { type: kind, ...Object.fromEntries(fieldsGiven) });
  });
}

async function add(project: string, options: MakeOptions, body: object): Promise<void> {
  const to = v1("projects", project, "integrations");
  const answer = await api.post<{ id: string; secret?: string }>(options, to, {
    ...body,
    name: options.name,
    events: options.event,
    title_template: options.titleTemplate,
    body_template: options.bodyTemplate,
    ...(options.shared && { shared: true }),
    ...(options.except && { except: options.except }),
    ...(options.stormThreshold === undefined
      ? {}
      : { storm_threshold: Number(options.stormThreshold) }),
  });
  const minted = answer.secret === undefined ? [] : [`secret ${answer.secret} (shown this once)`];
  print(answer, options, () => [answer.id, ...minted].join("\n"));
}

async function test(place: string, options: ApiOptions): Promise<void> {
  const answer = await api.post<{ ok: boolean; error?: string }>(options, `${place}/test`);
  print(answer, options, () => (answer.ok ? "it got through" : ""));
  if (!answer.ok) throw new CommandError(`it did not get through: ${answer.error ?? ""}`);
}

const deliveriesFlags = {
  "--limit <n>": { about: "how many (1 to 200)", usual: "50" },
  "--status <status>": "pending, delivered, failed or dropped",
  "--event <event>": "of one kind: alert.opened, for example",
  "--alert <id>": "of one alert",
};

async function deliveries(place: string, options: GivenBy<typeof deliveriesFlags>): Promise<void> {
  const { limit, status, event, alert } = options;
  const asked = { limit, status, event, alert: alert?.replace(/^#/, "") };
  const from = queried(`${place}/deliveries`, asked);
  const answer = await api.get<{ deliveries: Delivery[] }>(options, from);
  const columns: Columns<Delivery> = {
    ID: ({ id }) => id,
    ALERT: ({ alert_id }) => alert_id,
    EVENT: ({ event }) => event,
    STATUS: ({ status }) => status,
    ATTEMPTS: ({ attempts }) => attempts,
    CREATED: ({ created_at }) => when(created_at),
    NEXT: ({ next_attempt_at: at }) => (at === null ? "" : when(at)),
    "LAST ERROR": ({ last_error }) => last_error ?? "",
  };
  print(answer, options, () => tableOf(columns, answer.deliveries));
}

function detailText({ request, tries, ...row }: DeliveryDetail): string {
  const about = [row.id, row.event, row.alert_id && `alert ${row.alert_id}`, row.status];
  const rows = tries.map((each) => [
    when(each.at),
    `${each.duration_ms} ms`,
    each.status_code ?? "",
    each.error ?? "ok",
    each.devices === undefined ? "" : `${each.devices} phones`,
    each.answer,
  ]);
  const sent =
    request === null
      ? []
      : [
          `${request.method} ${request.url}`,
          ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
          ...(request.body === null ? [] : ["", request.body]),
        ];
  return [
    about.filter(Boolean).join("  "),
    table(["AT", "TOOK", "STATUS", "ERROR", "PAGED", "ANSWER"], rows),
    ...sent,
  ].join("\n");
}
