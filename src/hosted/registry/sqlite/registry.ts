import type { Clock } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import { openStore } from "../../../ground/store/store.ts";
import type { Registry, RegistrySealer } from "../registry.ts";
import { accountsIn, purgeSessions, refoldEmails, sessionsIn } from "./accounts.ts";
import { apnsIn } from "./apns-settings.ts";
import { claimsIn, purgeClaims } from "./claims.ts";
import { handsetsIn } from "./devices.ts";
import { heartbeatsIn } from "./heartbeats.ts";
import { mustNotHaveMoved } from "./move-marks.ts";
import { pairingsIn } from "./pairings.ts";
import { relayKeysIn, sealedKeyIdsIn } from "./relay-keys.ts";
import { groupWrites, type Room } from "./room.ts";
import { sealsIn } from "./seals.ts";
import { reportLinksIn, senderLinksIn } from "./tenant-links.ts";
import { membershipsIn, tenantsIn } from "./tenants.ts";
import { uptimeIn } from "./uptime.ts";

export interface SqliteRegistryOptions {
  /** The file: `hosted.db` of the data directory. */
  path: string;
  clock: Clock;
  random: Random;
  /** Makes the sealer, told which keys the stored values name. */
  sealer(keyIdsInUse: readonly string[]): RegistrySealer;
  /** Called for an error after which nothing may be written any more. */
  onFatal?: (error: unknown) => void;
}

/** Opens (and migrates) the registry's file. Throws StoreFault. */
export function openSqliteRegistry(options: SqliteRegistryOptions): Registry {
  const { path, clock, random, onFatal } = options;
  const store = openStore({ path, kind: "hosted", clock, random, ...(onFatal && { onFatal }) });
  try {
    mustNotHaveMoved(store, path);
  } catch (error) {
    store.close();
    throw error;
  }
  refoldEmails(store);
  const sealer = options.sealer(sealedKeyIdsIn(store));
  const room: Room = { store, write: groupWrites(store), sealer };
  return {
    accounts: accountsIn(room),
    sessions: sessionsIn(room),
    tenants: tenantsIn(room),
    memberships: membershipsIn(room),
    pairings: pairingsIn(room),
    relayKeys: relayKeysIn(room),
    devices: handsetsIn(room),
    claims: claimsIn(room),
    apns: apnsIn(room),
    heartbeats: heartbeatsIn(room),
    reportLinks: reportLinksIn(room),
    senderLinks: senderLinksIn(room),
    seals: sealsIn(room),
    uptime: uptimeIn(room),
    nodes: null,
    load: () => null,
    purge: () => room.write((tx) => purgeClaims(tx) + purgeSessions(tx)),
    close: () => store.close(),
  };
}
