import type { Command } from "commander";
import type { Integration } from "../src/core/projects/integration.ts";
import type { DeliveryDetail } from "../src/out/outbox/delivery-detail.ts";
import type { Delivery } from "../src/out/outbox/rows.ts";
import type { Channel } from "../src/out/services/channel.ts";
import { type ChannelList, channels } from "../src/out/services/list.ts";
import { registerActions } from "./actions.ts";
import { callApi, namedId, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { apiFlags, flag, print } from "./options.ts";
import { table, when } from "./table.ts";

interface MakeOptions extends ApiOptions {
  name?: string;
  event?: string[];
  titleTemplate?: string;
  bodyTemplate?: string;
  stormThreshold?: string;
  shared?: true;
  except?: string[];
}

/** `box integration` for channels, and the runbook actions beside them. */
export function registerIntegrations(program: Command, list: ChannelList = channels): void {
  const integration = program
    .command("integration")
    .description("channels: where a project's alerts are sent");
  apiFlags(integration.command("list <project>")).description("list channels").action(show);
  for (const kind of list.kinds) addCommand(integration, kind);
  apiFlags(integration.command("test <project> <integration>"))
    .description("send a test event, like a real one")
    .action(test);
  for (const verb of ["enable", "disable"] as const)
    apiFlags(integration.command(`${verb} <project> <integration>`))
      .description(
        verb === "enable"
          ? "enable a channel; what waited goes out"
          : "disable a channel; everything stays",
      )
      .action(async (project: string, named: string, options: ApiOptions) => {
        const place = await placeOf(options, project, named);
        const answer = await callApi<object>(options, "POST", `${place}/${verb}`);
        print(answer, options, () => `${verb}d ${named}`);
      });
  apiFlags(integration.command("delete <project> <integration>"))
    .description("delete a channel with its credentials")
    .action(async (project: string, named: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const answer = await callApi<object>(options, "DELETE", place);
      print(answer, options, () => `deleted ${named}`);
    });
  apiFlags(integration.command("deliveries <project> <integration>"))
    .description("list a channel's deliveries, newest first")
    .option("--limit <n>", "how many (1 to 200)", "50")
    .option("--status <status>", "pending, delivered, failed or dropped")
    .option("--event <event>", "of one kind: alert.opened, for example")
    .option("--alert <id>", "of one alert")
    .action(deliveries);
  apiFlags(integration.command("delivery <project> <integration> <delivery>"))
    .description("show what was sent, without credentials, and how the last attempts ended")
    .action(async (project: string, named: string, id: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const at = `${place}/${path("deliveries", id).slice(1)}`;
      const answer = await callApi<DeliveryDetail>(options, "GET", at);
      print(answer, options, () => detailText(answer));
    });
  apiFlags(integration.command("resend <project> <integration> <delivery>"))
    .description("send a delivery's event again, with the same id and bytes")
    .action(async (project: string, named: string, id: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const at = `${place}/${path("deliveries", id, "resend").slice(1)}`;
      const answer = await callApi<{ id: string }>(options, "POST", at);
      print(answer, options, () => `delivery ${answer.id}`);
    });
  registerActions(program);
}

function base(project: string, ...more: string[]): string {
  return path("v1", "projects", project, "integrations", ...more);
}

/** The path of a channel, by its name or id. */
async function placeOf(options: ApiOptions, project: string, named: string): Promise<string> {
  return base(project, await namedId(options, { kind: "integration", project }, named));
}

/** Makes `add-telegram` and the like, with the fields that the kind's file lists. */
function addCommand(integration: Command, channel: Channel): void {
  const { kind, about, fields, flags, bodyAsIs, isRoom } = channel;
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
  const command = apiFlags(integration.command(name))
    .description(`add ${about}`)
    .option("--name <name>", "a name for people")
    .option("--event <kind...>", "only these kinds of events (default: every kind)")
    .option("--shared", "it gets the alerts of every project")
    .option("--except <project...>", "with --shared: not those of these projects");
  if (!bodyAsIs)
    command
      .option("--title-template <text>", "your own title, in Mustache")
      .option("--body-template <text>", "your own body, in Mustache");
  if (isRoom)
    command.option(
      "--storm-threshold <n>",
      "alerts of a minute that are sent one by one; further ones come together; 0 = all one by one (default 10)",
    );
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

async function show(project: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ integrations: Integration[] }>(options, "GET", base(project));
  const row = (each: Integration) => [
    each.id,
    each.type,
    each.name,
    each.url,
    each.enabled ? "on" : "OFF",
    each.event_filter || "every event",
    each.consecutive_failures,
    each.last_error ?? "",
  ];
  print(answer, options, () =>
    table(
      ["ID", "TYPE", "NAME", "URL", "STATE", "EVENTS", "FAILURES", "LAST ERROR"],
      answer.integrations.map(row),
    ),
  );
}

async function add(project: string, options: MakeOptions, body: object): Promise<void> {
  const answer = await callApi<{ id: string; secret?: string }>(options, "POST", base(project), {
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

async function test(project: string, named: string, options: ApiOptions): Promise<void> {
  const place = await placeOf(options, project, named);
  const answer = await callApi<{ ok: boolean; error?: string }>(options, "POST", `${place}/test`);
  print(answer, options, () => (answer.ok ? "it got through" : ""));
  if (!answer.ok) throw new CommandError(`it did not get through: ${answer.error ?? ""}`);
}

interface DeliveriesOptions extends ApiOptions {
  limit: string;
  status?: string;
  event?: string;
  alert?: string;
}

async function deliveries(
  project: string,
  named: string,
  options: DeliveriesOptions,
): Promise<void> {
  const place = await placeOf(options, project, named);
  const { limit, status, event, alert } = options;
  const query = new URLSearchParams({
    limit,
    ...(status ? { status } : {}),
    ...(event ? { event } : {}),
    ...(alert ? { alert: alert.replace(/^#/, "") } : {}),
  });
  const answer = await callApi<{ deliveries: Delivery[] }>(
    options,
    "GET",
    `${place}/deliveries?${query}`,
  );
  const row = (each: Delivery) => [
    each.id,
    each.alert_id,
    each.event,
    each.status,
    each.attempts,
    when(each.created_at),
    each.next_attempt_at === null ? "" : when(each.next_attempt_at),
    each.last_error ?? "",
  ];
  print(answer, options, () =>
    table(
      ["ID", "ALERT", "EVENT", "STATUS", "ATTEMPTS", "CREATED", "NEXT", "LAST ERROR"],
      answer.deliveries.map(row),
    ),
  );
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
