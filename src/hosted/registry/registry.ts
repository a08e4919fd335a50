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

/** Seals the registry's secrets. */
export type RegistrySealer = Pick<Sealer, "seal" | "open">;

/**
 * The data of the hosted role: accounts, tenants, pairings, devices, pages. Every operation is asynchronous and takes
 * and returns plain values, so that several nodes can share a registry in another database. Each operation is one
 * transaction, which is on disk when its promise resolves.
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
  /** Null where only one process can serve. */
  nodes: Nodes | null;
  /** This node's use of its database; null where the registry is a file. */
  load(): DatabaseLoad | null;
  /** Deletes a slice of old claims and sessions; returns the number of rows. */
  purge(): Promise<number>;
  close(): void;
}
