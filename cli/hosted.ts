import { Command } from "commander";
import type { HostedFlags } from "../src/app/hosted-config.ts";
import type { OfflineRegistry } from "../src/app/offline/hosted.ts";
import { operatorFlags } from "../src/app/offline/operator-flags.ts";
import { databaseFlags, hostedFlags } from "../src/app/serve-flags.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import type { Flags, FlagsGiven } from "../src/ground/kit/flags.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { addFlags, dataFlag, jsonFlag, print, withFlags } from "./options.ts";
import { endOnFatal, keepRunning } from "./running.ts";
import { serveFlags } from "./serve.ts";

/** The flags of the registry's database. */
const registryFlags = {
  ...databaseFlags("the PostgreSQL that nodes share"),
  "--hosted-key <file>": "the sealing key (default hosted.key in --data)",
};

type OfflineOptions = FlagsGiven<typeof dataFlag & typeof registryFlags & typeof jsonFlag>;
type Given<Made extends keyof typeof operatorFlags> = OfflineOptions &
  FlagsGiven<(typeof operatorFlags)[Made]>;

/** `box hosted`: the relay for phones, and tenants without a box (contract §7, §11). */
export function registerHosted(program: Command): void {
  const hosted = new Command("hosted").description(
    "the hosted service: relay, phones, hosted tenants",
  );
  hosted.addCommand(serveCommand());
  registerPeople(hosted);
  registerTenants(hosted);
  const apns = hosted.command("apns").description("the push provider").command("set");
  dataDirectoryFlags(apns, operatorFlags.apns)
    .description("set the APNs key; a running service uses it from the next push on")
    .action(setApns);
  dataDirectoryFlags(hosted.command("move"))
    .description(
      "move a stopped service with its tenants to an empty database, or from a database back to a data directory",
    )
    .action(move);
  program.addCommand(hosted);
}

function serveCommand(): Command {
  const command = withFlags(serveFlags(new Command("serve"), "127.0.0.1:8090"), registryFlags);
  return withFlags(command.description("run the hosted service"), hostedFlags).action(
    async (flags: HostedFlags) => serve(flags),
  );
}

async function serve(flags: HostedFlags): Promise<void> {
  const [{ hostedConfig }, { startHosted }, { createLog }] = await Promise.all([
    import("../src/app/hosted-config.ts"),
    import("../src/app/hosted.ts"),
    import("../src/ground/kit/log.ts"),
  ]);
  const config = hostedConfig(flags);
  const log = createLog(config.logLevel);
  const deps = { clock: systemClock, random: systemRandom, log, onFatal: endOnFatal(log) };
  await keepRunning(await startHosted(config, deps), deps);
}

function registerPeople(hosted: Command): void {
  const account = hosted.command("account").description("hosted accounts");
  dataDirectoryFlags(account.command("add"), operatorFlags.account)
    .description("find the account of an e-mail address, or add it")
    .action(addAccount);
  const session = hosted.command("session").description("session tokens for apps");
  dataDirectoryFlags(session.command("add"), operatorFlags.account)
    .description("make a session token for an account; it is shown this once")
    .action(addSession);
  const key = hosted.command("key").description("API keys of hosted tenants");
  dataDirectoryFlags(key.command("add"), operatorFlags.key)
    .description("make an API key of a hosted tenant; it is shown this once")
    .action(addKey);
}

function registerTenants(hosted: Command): void {
  const tenant = hosted.command("tenant").description("tenants");
  dataDirectoryFlags(tenant.command("add"), operatorFlags.newTenant)
    .description("add a tenant")
    .action(addTenant);
  dataDirectoryFlags(tenant.command("set <tenant>"), operatorFlags.tenant)
    .description("change a tenant")
    .action(setTenant);
}

function dataDirectoryFlags(command: Command, own: Flags = {}): Command {
  return addFlags(withFlags(addFlags(command, dataFlag), registryFlags), { ...jsonFlag, ...own });
}

async function onDataDirectory<T>(
  options: OfflineOptions,
  use: (desk: OfflineRegistry) => Promise<T>,
): Promise<T> {
  const { withHosted } = await import("../src/app/offline/hosted.ts");
  return withHosted({ ...options, clock: systemClock, random: systemRandom }, use);
}

async function addAccount(options: Given<"account">): Promise<void> {
  const made = await onDataDirectory(options, (desk) => desk.addAccount(options.email));
  print(made, options, () => `account  ${made.account_id}`);
}

async function addSession(options: Given<"account">): Promise<void> {
  const made = await onDataDirectory(options, (desk) => desk.addSession(options.email));
  print(made, options, () => `session token  ${made.token}`);
}

async function addTenant(options: Given<"newTenant">): Promise<void> {
  const made = await onDataDirectory(options, (desk) => desk.addTenant(options));
  print(made, options, () => `tenant  ${made.tenant_id}`);
}

async function setTenant(id: string, options: Given<"tenant">): Promise<void> {
  const tenant = await onDataDirectory(options, (desk) => desk.setTenant(id, options));
  const shown = {
    tenant_id: tenant.id,
    kind: tenant.kind,
    plan: tenant.plan,
    box_url: tenant.boxUrl,
    watch_seconds: tenant.watchSeconds,
  };
  const plain = () =>
    Object.entries(shown)
      .map(([name, value]) => `${name.padEnd(14)} ${value ?? "-"}`)
      .join("\n");
  print(shown, options, plain);
}

async function addKey(options: Given<"key">): Promise<void> {
  const made = await onDataDirectory(options, (desk) => desk.addKey(options));
  print(made, options, () => `API key  ${made.api_key}`);
}

async function setApns(options: Given<"apns">): Promise<void> {
  await onDataDirectory(options, (desk) => desk.setApns(options));
  print({ set: true, topic: options.topic }, options, () => `set for ${options.topic}`);
}

async function move(options: OfflineOptions): Promise<void> {
  const { moveHosted } = await import("../src/app/offline/hosted-move.ts");
  const made = await moveHosted({ ...options, clock: systemClock, random: systemRandom });
  const counts = { ...made.rows, "tenants' stores": made.stores };
  const lines = () => Object.entries(counts).map(([name, rows]) => `${name.padEnd(15)} ${rows}`);
  print(made, options, () => [`moved ${made.moved}; rows:`, ...lines()].join("\n"));
}
