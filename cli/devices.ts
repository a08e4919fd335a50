import type { Command } from "commander";
import type { DeviceAnswer } from "../src/people/device.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { someOf } from "./nearest.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { type Columns, tableOf } from "./table.ts";

export function registerDevices(program: Command): void {
  const device = program.command("device").description("your phones, as their apps report them");
  apiFlags(device.command("list")).description("list your devices").action(list);
  apiFlags(device.command("add <token>"), addFlags)
    .description(
      "register a device, or update it; the token is its app's APNs device token, 64 hex digits",
    )
    .action(add);
  apiFlags(device.command("remove <token>"))
    .description("remove a device: its token, or enough of its beginning")
    .action(remove);
}

async function devicesOf(options: ApiOptions): Promise<DeviceAnswer[]> {
  return (await api.get<{ devices: DeviceAnswer[] }>(options, "/v1/devices")).devices;
}

async function list(options: ApiOptions): Promise<void> {
  const devices = await devicesOf(options);
  const columns: Columns<DeviceAnswer> = {
    TOKEN: ({ token }) => `${token.slice(0, 12)}…`,
    PLATFORM: ({ platform }) => platform,
    "RINGS THROUGH SILENCE": ({ critical_alerts }) => (critical_alerts ? "yes" : "no"),
    SINCE: ({ created_at }) => created_at,
    "LAST SEEN": ({ last_seen_at }) => last_seen_at,
  };
  print({ devices }, options, () =>
    devices.length === 0 ? "no devices" : tableOf(columns, devices),
  );
}

const addFlags = {
  "--platform <name>": { must: "ios or another" },
  "--critical-alerts": "the app may use critical alerts, which ring although the phone is muted",
};

async function add(token: string, options: GivenBy<typeof addFlags>): Promise<void> {
  const { platform, criticalAlerts: critical_alerts = false } = options;
  const body = { token, platform, critical_alerts };
  const answer = await api.post<object>(options, "/v1/devices", body);
  print(answer, options, () => `registered ${token.slice(0, 12)}…`);
}

async function remove(start: string, options: ApiOptions): Promise<void> {
  const tokens = (await devicesOf(options)).map(({ token }) => token);
  const found = tokens.filter((token) => token.startsWith(start.toLowerCase()));
  const [token] = found;
  if (token === undefined || found.length > 1)
    throw new CommandError(
      tokens.length === 0
        ? "you have no devices"
        : `${found.length === 0 ? "no device of yours begins" : "more than one device of yours begins"} with "${start}"; there is ${someOf(start, tokens)}`,
    );
  await api.delete<object>(options, v1("devices", token));
  print({ deleted: true, token }, options, () => `removed ${token.slice(0, 12)}…`);
}
