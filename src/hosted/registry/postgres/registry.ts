import type { Registry, RegistrySealer } from "../registry.ts";
import { accountsOn, purgeSessionsOn, sessionsOn } from "./accounts.ts";
import { apnsOn } from "./apns-settings.ts";
import { claimsOn } from "./claims.ts";
import { type DatabaseOptions, openDatabase } from "./connect.ts";
import { handsetsOn } from "./devices.ts";
import { heartbeatsOn } from "./heartbeats.ts";
import { migrateDatabase } from "./migrate.ts";
import { nodesOn } from "./nodes.ts";
import { pairingsOn } from "./pairings.ts";
import { purgeOn } from "./purge.ts";
import { relayKeysOn, sealedKeyIdsOn } from "./relay-keys.ts";
import type { DatabaseRoom } from "./room.ts";
import { sealsOn } from "./seals.ts";
import { reportLinksOn, senderLinksOn } from "./tenant-links.ts";
import { membershipsOn, tenantsOn } from "./tenants.ts";
import { uptimeOn } from "./uptime.ts";

export interface PostgresRegistryOptions extends DatabaseOptions {
  /** This node's name: in each hold that it takes. */
  node: string;
  /** Makes the sealer, told which keys the stored values name. */
  sealer(keyIdsInUse: readonly string[]): RegistrySealer;
}

/** Connects to the registry's database and migrates it. Rejects with DatabaseAway and StoreFault. */
export async function openPostgresRegistry(options: PostgresRegistryOptions): Promise<Registry> {
  const { node, clock, random } = options;
  const database = openDatabase(options);
  try {
    await migrateDatabase(database);
    const sealer = options.sealer(await sealedKeyIdsOn({ database }));
    return registryOn({ database, sealer, clock, random, node });
  } catch (error) {
    database.close();
    throw error;
  }
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
