import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Accounts, Sessions } from "./accounts.ts";
import type { Apns } from "./apns-settings.ts";
import type { Claims } from "./claims.ts";
import type { Devices } from "./devices.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { DatabaseLoad } from "./load.ts";
import type { Nodes } from "./nodes.ts";
import type { Pairings } from "./pairings.ts";
import type { RelayKeys } from "./relay-keys.ts";
import type { Seals } from "./seals.ts";
import type { TenantLinks } from "./tenant-links.ts";
import type { Memberships, Tenants } from "./tenants.ts";
import type { Uptime } from "./uptime.ts";

/** What seals the registry's secrets at rest. */
export type RegistrySealer = Pick<Sealer, "seal" | "open">;

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
  /** Null where one process alone can serve. */
  nodes: Nodes | null;
  /** What this node has counted of its database; null where the registry lies in this process. */
  load(): DatabaseLoad | null;
  /** Forgets old claims and sessions, a slice at a time; the number of rows forgotten. */
  purge(): Promise<number>;
  close(): void;
}
