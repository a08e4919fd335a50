import type { Registry, RegistrySealer } from "../registry.ts";
import { postgresAccounts, postgresPurgeSessions, postgresSessions } from "./accounts.ts";
import { postgresApns } from "./apns-settings.ts";
import { postgresClaims } from "./claims.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./connect.ts";
import type { PostgresDeps } from "./deps.ts";
import { postgresDevices } from "./devices.ts";
import { postgresHeartbeats } from "./heartbeats.ts";
import { migrateDatabase } from "./migrate.ts";
import { postgresNodes } from "./nodes.ts";
import { postgresPairings } from "./pairings.ts";
import { postgresPurge } from "./purge.ts";
import { postgresRelayKeys, postgresSealedKeyIds } from "./relay-keys.ts";
import { beginPostgresKey, mustHavePostgresKey, type NodeKeys } from "./sealing-key.ts";
import { postgresSeals } from "./seals.ts";
import { postgresReportLinks, postgresSenderLinks } from "./tenant-links.ts";
import { postgresMemberships, postgresTenants } from "./tenants.ts";
import { postgresUptime } from "./uptime.ts";

interface PostgresRegistryOptions extends DatabaseOptions {
  /** This node's name, part of each hold that it takes. */
  node: string;
  /** This node's sealing keys, which must be the other nodes'; absent where that isn't checked. */
  keys?: NodeKeys;
  /** Called once where the migration takes long, here or on another node. */
  onMigrating?(): void;
  /** Makes the sealer; gets the ids of the keys that stored values use. */
  sealer(keyIdsInUse: readonly string[]): RegistrySealer;
}

const SAY_MS = 10_000;

/** Connects to the registry's database and migrates it. Rejects with DatabaseAway and StoreFault. */
export async function openPostgresRegistry(options: PostgresRegistryOptions): Promise<Registry> {
  const { node, clock, random, keys } = options;
  const database = openDatabase(options);
  try {
    const said = clock.after(SAY_MS, () => options.onMigrating?.());
    await migrateDatabase(database).finally(said);
    if (keys?.serves === true) await mustHavePostgresKey(database, keys);
    const sealer = options.sealer(await postgresSealedKeyIds({ database }));
    const registry = registryOn({ database, sealer, clock, random, node });
    return keys?.serves === false ? beginning(registry, { database, keys }) : registry;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** For commands: only writing a secret needs the nodes' key. */
function beginning(
  registry: Registry,
  { database, keys }: { database: Database; keys: NodeKeys },
): Registry {
  const { apns } = registry;
  return {
    ...registry,
    apns: {
      ...apns,
      async set(settings) {
        await beginPostgresKey(database, keys);
        await apns.set(settings);
      },
    },
  };
}

function registryOn(deps: PostgresDeps): Registry {
  const { database } = deps;
  return {
    accounts: postgresAccounts(deps),
    sessions: postgresSessions(deps),
    tenants: postgresTenants(deps),
    memberships: postgresMemberships(deps),
    pairings: postgresPairings(deps),
    relayKeys: postgresRelayKeys(deps),
    devices: postgresDevices(deps),
    claims: postgresClaims(deps),
    apns: postgresApns(deps),
    heartbeats: postgresHeartbeats(deps),
    reportLinks: postgresReportLinks(deps),
    senderLinks: postgresSenderLinks(deps),
    seals: postgresSeals(deps),
    uptime: postgresUptime(deps),
    nodes: postgresNodes(deps),
    load: () => database.tally.load(),
    purge: postgresPurge(deps, () => postgresPurgeSessions(deps)),
    close: () => database.close(),
  };
}
