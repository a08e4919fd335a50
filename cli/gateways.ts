import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import type { Gateway } from "../src/out/contacts/contact.ts";
import type { GatewayKind } from "../src/out/services/contact-kind.ts";
import { contactKindList } from "../src/out/services/list.ts";
import { callApi, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { apiFlags, flag, print } from "./options.ts";
import { secretHelp, withSecrets } from "./secrets.ts";
import { age, table } from "./table.ts";

export function registerGateways(program: Command): void {
  const gateway = program
    .command("gateway")
    .description("gateways serve people's contacts: a mail server, bots, accounts with services");
  apiFlags(gateway.command("list"))
    .description("list gateways, without their secrets")
    .action(list);
  const set = gateway
    .command("set")
    .description("set up a gateway, or change some of its settings");
  for (const kind of contactKindList.gateways) setCommand(set, kind);
  apiFlags(gateway.command("delete <kind>"))
    .description("delete a gateway; its contacts stay, but reach nobody")
    .action(async (kind: string, options: ApiOptions) => {
      const answer = await callApi<object>(options, "DELETE", path("v1", "gateways", kind));
      print(answer, options, () => `deleted ${kind}`);
    });
}

/** The flag of a setting. In every command `--url` is the box's own address. */
const flagOf = (field: string): string => (field === "url" ? "server" : field.replaceAll("_", "-"));

function setCommand(set: Command, { kind, about, fields, open = [] }: GatewayKind): void {
  const command = apiFlags(set.command(kind)).description(
    `set up ${about} (what you leave out stays)`,
  );
  const options = Object.entries(fields.shape).map(([field, schema]) => {
    const isSecret = field !== "url" && !open.includes(field);
    const about = schema.meta()?.description ?? field;
    const help = isSecret ? `${about}; ${secretHelp}` : about;
    const option = flag(
      `--${flagOf(field)} <${isSecret ? "secret" : "value"}>`,
      help,
      `gateway_${kind}`,
    );
    command.addOption(option);
    return { field, option };
  });
  command.option("--no-test", "store it without a test request");
  command.action(async () => {
    const given = command.opts<ApiOptions & { test: boolean } & Record<string, string>>();
    const settings = await withSecrets(
      Object.fromEntries(
        options.map(({ field, option }) => [field, given[option.attributeName()]]),
      ),
    );
    const { test } = given;
    const answer = await callApi<Gateway>(given, "PUT", path("v1", "gateways", kind), {
      ...settings,
      ...(test ? {} : { test }),
    });
    print(answer, given, () =>
      test ? `${kind} works and is stored` : `${kind} is stored, and wasn't tried`,
    );
  });
}

async function list(options: ApiOptions): Promise<void> {
  const answer = await callApi<{ gateways: Gateway[] }>(options, "GET", "/v1/gateways");
  const now = unixSeconds(systemClock);
  const row = ({ kind, url, open, last_ok_at, last_error }: Gateway) => {
    const { url: _shown, ...settings } = open;
    return [
      kind,
      url || "usual",
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
      last_ok_at === null ? "never" : `${age(last_ok_at, now)} ago`,
      last_error ?? "",
    ];
  };
  print(answer, options, () =>
    answer.gateways.length === 0
      ? "no gateways: box gateway set KIND makes one (ntfy needs none)"
      : table(["KIND", "SERVER", "SETTINGS", "LAST TOOK", "LAST ERROR"], answer.gateways.map(row)),
  );
}
