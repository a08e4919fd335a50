import type { Clock } from "../../kit/clock.ts";
import type { Random } from "../../kit/random.ts";
import { openStore } from "../../store/store.ts";
import {
  type Accounts,
  accountsIn,
  purgeSessions,
  refoldEmails,
  type Sessions,
  sessionsIn,
} from "./accounts.ts";
import { type Apns, apnsIn } from "./apns-settings.ts";
import { type Claims, claimsIn, purgeClaims } from "./claims.ts";
import { type Devices, handsetsIn } from "./devices.ts";
import { type Heartbeats, heartbeatsIn } from "./heartbeats.ts";
import { type Pairings, pairingsIn } from "./pairings.ts";
import { type RelayKeys, relayKeysIn, sealedKeyIdsIn } from "./relay-keys.ts";
import { groupWrites, type RegistrySealer, type Room } from "./room.ts";
import { type Seals, sealsIn } from "./seals.ts";
import { reportLinksIn, senderLinksIn, type TenantLinks } from "./tenant-links.ts";
import { type Memberships, membershipsIn, type Tenants, tenantsIn } from "./tenants.ts";
import { type Uptime, uptimeIn } from "./uptime.ts";

/**
 * What the hosted role knows: whose phones, whose boxes, which pages. Every verb is asynchronous and
 * takes and returns plain values, so that a fleet's registry can live in another database.
 * Each verb is one transaction, on disk when its promise settles.
 */
export interface Registry {
  accounts: Accounts;
  sessions: Sessions;
  tenants: Tenants;
  memberships: Memberships;
  pairings: Pairings;
  relayKeys: RelayKeys;
  devices: Devices;
  claims: Claims;
  apns: Apns;
  heartbeats: Heartbeats;
  reportLinks: TenantLinks;
  senderLinks: TenantLinks;
  seals: Seals;
  uptime: Uptime;
  /** Forgets old claims and sessions, a slice at a time; the number of rows forgotten. */
  purge(): Promise<number>;
  close(): void;
}

export interface RegistryOptions {
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
export function openRegistry(options: RegistryOptions): Registry {
  const { path, clock, random, onFatal } = options;
  const store = openStore({ path, kind: "hosted", clock, random, ...(onFatal && { onFatal }) });
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
    purge: () => room.write((tx) => purgeClaims(tx) + purgeSessions(tx)),
    close: () => store.close(),
  };
}
