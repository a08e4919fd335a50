import type { Command } from "commander";
import type { Gateway } from "../src/out/contacts/contact.ts";
import type { GatewayKind } from "../src/out/services/contact-kind.ts";
import { contactKindList } from "../src/out/services/list.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, flag, print } from "./options.ts";
import { secretHelp, withSecrets } from "./secrets.ts";
import { agoOrNever } from "./table.ts";

export function registerGateways(program: Command): void {
  const group = program
    .command("gateway")
    .description("gateways serve people's contacts: a mail server, bots, accounts with services");
  const gateway = nounCommands(group, { of: "", one: "<kind>", at: () => "/v1/gateways" });
  gateway.list<Gateway>(
    "list gateways, without their secrets",
    {
      KIND: ({ kind }) => kind,
      SERVER: ({ url }) => url || "usual",
      SETTINGS: settingsText,
      "LAST TOOK": ({ last_ok_at }) => agoOrNever(last_ok_at),
      "LAST ERROR": ({ last_error }) => last_error ?? "",
    },
    { none: "no gateways: box gateway set KIND makes one (ntfy needs none)" },
  );
  const set = group.command("set").description("set up a gateway, or change some of its settings");
  for (const kind of contactKindList.gateways) setCommand(set, kind);
  gateway.delete("delete a gateway; its contacts stay, but reach nobody");
}

function settingsText({ open: { url: _shown, ...settings } }: Gateway): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
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
    const answer = await api.put<Gateway>(given, v1("gateways", kind), {
      ...settings,
      ...(test ? {} : { test }),
    });
    print(answer, given, () =>
      test ? `${kind} works and is stored` : `${kind} is stored, and wasn't tried`,
    );
  });
}
