import type { Command } from "commander";
import { api } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { readText } from "./files.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { ask } from "./prompt.ts";

const relayFlags = {
  "--secret-file <file>": "a file with its secret (- = standard input; default: asks)",
  "--tenant <id>": "the hosted tenant's id",
  "--box-url <url>": "where the relay reaches this box",
  "--test": "store it only if the relay accepts a signed test first",
};

export function registerRelay(program: Command): void {
  const relay = program.command("relay").description("the relay that pages phones");
  apiFlags(relay.command("show"))
    .description("show whether a relay is set, and its address")
    .action(show);
  apiFlags(relay.command("set <relay-url>"), relayFlags)
    .description(
      "set the relay for all projects, also future ones; its address and secret were shown at the first pairing",
    )
    .action(set);
  apiFlags(relay.command("remove"))
    .description("remove the relay; pages that wait for it are dropped")
    .action(remove);
}

async function show(options: ApiOptions): Promise<void> {
  const answer = await api.get<{ configured: boolean; relay_url: string }>(options, "/v1/relay");
  print(answer, options, () =>
    answer.configured
      ? `pages go through ${answer.relay_url}`
      : "there is no relay: no phone is paged",
  );
}

async function set(url: string, options: GivenBy<typeof relayFlags>): Promise<void> {
  const { secretFile: file, tenant, boxUrl, test } = options;
  const secret =
    file === undefined
      ? await ask("The relay's secret: ", "--secret-file is needed", { hidden: true })
      : await readText(file);
  const answer = await api.put<{ relay_url: string }>(options, "/v1/relay", {
    relay_url: url,
    relay_secret: secret.trim(),
    ...(tenant === undefined ? {} : { hosted_tenant_id: tenant }),
    ...(boxUrl === undefined ? {} : { box_public_url: boxUrl }),
    ...(test ? { test } : {}),
  });
  print(answer, options, () => `every project pages through ${answer.relay_url}`);
}

async function remove(options: ApiOptions): Promise<void> {
  const answer = await api.delete<{ dropped_deliveries: number }>(options, "/v1/relay");
  print(
    answer,
    options,
    () => `removed; ${answer.dropped_deliveries} pages that waited for it were dropped`,
  );
}
