import type { Registry, RegistrySealer } from "../registry.ts";
import { accountsOn, purgeSessionsOn, sessionsOn } from "./accounts.ts";
import { apnsOn } from "./apns-settings.ts";
import { claimsOn } from "./claims.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./connect.ts";
import { handsetsOn } from "./devices.ts";
import { heartbeatsOn } from "./heartbeats.ts";
import { migrateDatabase } from "./migrate.ts";
import { nodesOn } from "./nodes.ts";
import { pairingsOn } from "./pairings.ts";
import { purgeOn } from "./purge.ts";
import { relayKeysOn, sealedKeyIdsOn } from "./relay-keys.ts";
import type { DatabaseRoom } from "./room.ts";
import { beginKeyOn, mustHaveKeyOn, type NodeKeys } from "./sealing-key.ts";
import { sealsOn } from "./seals.ts";
import { reportLinksOn, senderLinksOn } from "./tenant-links.ts";
import { membershipsOn, tenantsOn } from "./tenants.ts";
import { uptimeOn } from "./uptime.ts";

export interface PostgresRegistryOptions extends DatabaseOptions {
  /** This node's name: in each hold that it takes. */
  node: string;
  /** What the sealer's keys are, which must be the others'; absent where nobody asks. */
  keys?: NodeKeys;
  /** Called once where the schema takes long: a big table is written anew, here or by another node. */
  onMigrating?(): void;
  /** Makes the sealer, told which keys the stored values name. */
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
    if (keys?.serves === true) await mustHaveKeyOn(database, keys);
    const sealer = options.sealer(await sealedKeyIdsOn({ database }));
    const registry = registryOn({ database, sealer, clock, random, node });
    return keys?.serves === false ? beginning(registry, { database, keys }) : registry;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** For commands: only what they seal needs the nodes' key. */
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
        await beginKeyOn(database, keys);
        await apns.set(settings);
      },
    },
  };
}

function registryOn(room: DatabaseRoom): Registry {
  const { database } = room;
  return {
    accounts: accountsOn(room),
    sessions: sessionsOn(room),
    tenants: tenantsOn(room),
    memberships: membershipsOn(room),
    pairings: pairingsOn(room),
    relayKeys: relayKeysOn(room),
    devices: handsetsOn(room),
    claims: claimsOn(room),
    apns: apnsOn(room),
    heartbeats: heartbeatsOn(room),
    reportLinks: reportLinksOn(room),
    senderLinks: senderLinksOn(room),
    seals: sealsOn(room),
    uptime: uptimeOn(room),
    nodes: nodesOn(room),
    load: () => database.tally.load(),
    purge: purgeOn(room, () => purgeSessionsOn(room)),
    close: () => database.close(),
  };
}
