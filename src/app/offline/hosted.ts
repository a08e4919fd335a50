import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { operatorsStore } from "../../ground/audit/record.ts";
import type { Clock } from "../../ground/kit/clock.ts";
import { notFound } from "../../ground/kit/errors.ts";
import { type FlagsGiven, UsageError, webUrl } from "../../ground/kit/flags.ts";
import type { Random } from "../../ground/kit/random.ts";
import { fileSealer } from "../../ground/kit/sealer.ts";
import type { Role } from "../../ground/store/columns.ts";
import { prepareDirectory } from "../../ground/store/directory.ts";
import { mustExist, openStore } from "../../ground/store/store.ts";
import { readApnsKey } from "../../hosted/apns-token.ts";
import { hostedFiles } from "../../hosted/files.ts";
import { seenByCommand } from "../../hosted/nodes/seen.ts";
import {
  type DatabaseFlags,
  type DatabaseSettings,
  databaseSettings,
} from "../../hosted/registry/postgres/settings.ts";
import type { Registry } from "../../hosted/registry/registry.ts";
import { openSqliteRegistry } from "../../hosted/registry/sqlite/registry.ts";
import type { HostedTenant } from "../../hosted/registry/tenants.ts";
import { isBoxUrl } from "../../hosted/relay-event.ts";
import { sealStore, storeStamp, tokenHashes } from "../../hosted/tenant-seal.ts";
import { seatAccount } from "../../people/accounts.ts";
import { isEmail } from "../../people/email.ts";
import { mintKey } from "../../people/keys.ts";
import { ensureTenant } from "../../tenant/tenant.ts";
import type { operatorFlags } from "./operator-flags.ts";
import { tenantForKey } from "./tenant-for-key.ts";

type TenantFlags = FlagsGiven<typeof operatorFlags.tenant>;
type KeyFlags = FlagsGiven<typeof operatorFlags.key>;
type ApnsFlags = FlagsGiven<typeof operatorFlags.apns>;

/** The operator's work on the hosted service's data directory that no route does (contract §11). */
export type OfflineRegistry = ReturnType<typeof offlineOf>;

interface OfflineOptions extends DatabaseFlags {
  data: string;
  /** The file of the sealing key. Default: in the data directory. */
  hostedKey?: string;
  clock: Clock;
  random: Random;
}

/**
 * Opens a hosted data directory for one command, also while it is served, and closes it after `use`. Throws StoreFault,
 * also where it was never served.
 */
export async function withHosted<T>(
  options: OfflineOptions,
  use: (desk: OfflineRegistry) => Promise<T>,
): Promise<T> {
  const { data, clock, random } = options;
  const database = databaseOf(options);
  if (database !== null) return withDatabase(database, options, use);
  mustExist(join(data, hostedFiles.registry));
  prepareDirectory(join(data, hostedFiles.tenants));
  const registry = openSqliteRegistry({
    path: join(data, hostedFiles.registry),
    clock,
    random,
    sealer: (inUse) => fileSealer({ ...keyPlace(options), inUse, clock, random }),
  });
  try {
    return await use(offlineOf(registry, options));
  } finally {
    registry.close();
  }
}

function keyPlace({ data, hostedKey = join(data, hostedFiles.key) }: OfflineOptions) {
  return { dir: dirname(hostedKey), name: basename(hostedKey) };
}

/** Throws UsageError. */
function databaseOf(flags: DatabaseFlags): DatabaseSettings | null {
  const faults: string[] = [];
  const database = databaseSettings(flags, faults);
  refuse(faults);
  return database;
}

/** Works whether nodes serve on the database or not. */
async function withDatabase<T>(
  settings: DatabaseSettings,
  options: OfflineOptions,
  use: (desk: OfflineRegistry) => Promise<T>,
): Promise<T> {
  const { data, hostedKey = join(data, hostedFiles.key), clock, random } = options;
  const { openDatabaseRegistry } = await import("../../hosted/registry/postgres/open.ts");
  const { registry } = await openDatabaseRegistry({
    settings,
    pool: 1,
    keyFile: hostedKey,
    serves: false,
    node: "desk",
    clock,
    random,
    seen: seenByCommand(data),
    onPlain() {},
  });
  try {
    const { addKeyByNode } = await import("./hosted-key.ts");
    return await use({
      ...offlineOf(registry, options),
      async addKey(flags) {
        refuse(emailFaults("email", flags.email));
        return addKeyByNode({ registry, settings }, options, flags);
      },
    });
  } finally {
    registry.close();
  }
}

function offlineOf(registry: Registry, options: OfflineOptions) {
  return {
    /** The account with this email; made where there is none. */
    async addAccount(email: string): Promise<{ account_id: string }> {
      refuse(emailFaults("email", email));
      const { account } = await registry.accounts.add(email);
      return { account_id: account.id };
    },
    /** A session token of an account. Throws ServiceError not_found. */
    async addSession(email: string): Promise<{ token: string }> {
      const account = await registry.accounts.byEmail(email);
      if (account === null) throw notFound("account");
      return { token: await registry.sessions.add(account.id) };
    },
    async addTenant(flags: FlagsGiven<typeof operatorFlags.newTenant>) {
      const { kind, owner } = flags;
      const change = checkTenant(flags, owner === undefined ? [] : emailFaults("owner", owner));
      const { boxUrl } = change;
      const { id } = await registry.tenants.add({
        kind,
        ...(boxUrl !== undefined && { boxUrl }),
        ...(owner !== undefined && { ownerEmail: owner }),
      });
      await registry.tenants.set(id, change);
      return { tenant_id: id };
    },
    /** Throws ServiceError not_found. */
    async setTenant(id: string, flags: TenantFlags): Promise<HostedTenant> {
      const isKnown = await registry.tenants.set(id, checkTenant(flags));
      const tenant = isKnown ? await registry.tenants.get(id) : null;
      if (tenant === null) throw notFound("tenant");
      return tenant;
    },
    /** An API key of a hosted tenant. Its account and membership are made if need be. */
    async addKey(flags: KeyFlags): Promise<{ api_key: string; account_id: string }> {
      refuse(emailFaults("email", flags.email));
      return addKey(registry, options, flags);
    },
    setApns: (flags: ApnsFlags) => registry.apns.set(checkApns(flags)),
  };
}

/** `faults`: those that were found before, which are said with these. */
function checkTenant({ boxUrl, plan, watch }: TenantFlags, faults: string[] = []) {
  if (boxUrl !== undefined && !isBoxUrl(boxUrl))
    faults.push(`--box-url must be an http or https address, not "${boxUrl}".`);
  if (watch !== undefined && !/^\d{1,6}$/.test(watch))
    faults.push(`--watch must be seconds (0 = off), not "${watch}".`);
  refuse(faults);
  return {
    ...(boxUrl !== undefined && { boxUrl }),
    ...(plan !== undefined && { plan }),
    ...(watch !== undefined && { watchSeconds: Number(watch) }),
  };
}

async function addKey(registry: Registry, options: OfflineOptions, flags: KeyFlags) {
  const { email, role } = flags;
  const tenant = await tenantForKey(registry, flags.tenant);
  const { account } = await registry.accounts.add(email);
  const { clock, random, data } = options;
  const tenantId = tenant.id;
  const epoch = await registry.seals.break(tenantId);
  const path = join(data, hostedFiles.tenants, `${tenantId}.db`);
  const store = openStore({ path, kind: "box", clock, random });
  let made: { role: Role; key: string; hashes: readonly string[] };
  try {
    ensureTenant(store, tenantId);
    made = operatorsStore(store, "hosted key add").write((tx) => {
      const held = seatAccount(tx, account, role);
      const { key } = mintKey(tx, tenantId, account.id);
      return { role: held, key, hashes: tokenHashes(tx) };
    });
  } finally {
    store.close();
  }
  // A server that closed the tenant meanwhile may have sealed it without the key.
  const seal = { tenantId, epoch, files: storeStamp(path), hashes: made.hashes };
  if (!(await sealStore(registry, seal))) await registry.seals.break(tenantId);
  await registry.memberships.put({ tenantId, accountId: account.id, role: made.role });
  return { api_key: made.key, account_id: account.id };
}

const APPLE = "https://api.push.apple.com";

function checkApns(flags: ApnsFlags) {
  const faults: string[] = [];
  const key = readFile("key-file", flags.keyFile, faults);
  const ca = flags.ca === undefined ? null : readFile("ca", flags.ca, faults);
  if (key !== "" && readApnsKey(key) === null)
    faults.push("--key-file holds no P-256 private key (a .p8 file of Apple's).");
  const endpoint = webUrl("endpoint", flags.endpoint ?? APPLE, faults);
  if (endpoint !== "" && !endpoint.startsWith("https:")) faults.push("--endpoint must be https.");
  refuse(faults);
  const { keyId, teamId, topic } = flags;
  return { keyId, teamId, topic, endpoint, ca, key };
}

function readFile(name: string, path: string, faults: string[]): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? error.code : "unreadable";
    faults.push(`--${name}: ${path} can't be read (${why}).`);
    return "";
  }
}

function emailFaults(name: string, email: string): string[] {
  return isEmail(email) ? [] : [`--${name}: "${email}" is no e-mail address.`];
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new UsageError(faults.join("\n"));
}
