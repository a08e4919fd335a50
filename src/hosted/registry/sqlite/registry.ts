import type { Clock } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import { openStore } from "../../../ground/store/store.ts";
import type { Registry, RegistrySealer } from "../registry.ts";
import { purgeSessions, refoldEmails, sqliteAccounts, sqliteSessions } from "./accounts.ts";
import { sqliteApns } from "./apns-settings.ts";
import { purgeClaims, sqliteClaims } from "./claims.ts";
import { groupWrites, type SqliteDeps } from "./deps.ts";
import { sqliteDevices } from "./devices.ts";
import { sqliteHeartbeats } from "./heartbeats.ts";
import { sqliteMustNotHaveMoved } from "./move-marks.ts";
import { sqlitePairings } from "./pairings.ts";
import { sqliteRelayKeys, sqliteSealedKeyIds } from "./relay-keys.ts";
import { sqliteSeals } from "./seals.ts";
import { sqliteReportLinks, sqliteSenderLinks } from "./tenant-links.ts";
import { sqliteMemberships, sqliteTenants } from "./tenants.ts";
import { sqliteUptime } from "./uptime.ts";

interface SqliteRegistryOptions {
  /** The file: `hosted.db` of the data directory. */
  path: string;
  clock: Clock;
  random: Random;
  /** Makes the sealer; gets the ids of the keys that stored values use. */
  sealer(keyIdsInUse: readonly string[]): RegistrySealer;
  /** Called for an error after which nothing may be written. */
  onFatal?: (error: unknown) => void;
}

/** Opens (and migrates) the registry's file. Throws StoreFault. */
export function openSqliteRegistry(options: SqliteRegistryOptions): Registry {
  const { path, clock, random, onFatal } = options;
  const store = openStore({ path, kind: "hosted", clock, random, ...(onFatal && { onFatal }) });
  try {
    sqliteMustNotHaveMoved(store, path);
  } catch (error) {
    store.close();
    throw error;
  }
  refoldEmails(store);
  const sealer = options.sealer(sqliteSealedKeyIds(store));
  const deps: SqliteDeps = { store, write: groupWrites(store), sealer };
  return {
    accounts: sqliteAccounts(deps),
    sessions: sqliteSessions(deps),
    tenants: sqliteTenants(deps),
    memberships: sqliteMemberships(deps),
    pairings: sqlitePairings(deps),
    relayKeys: sqliteRelayKeys(deps),
    devices: sqliteDevices(deps),
    claims: sqliteClaims(deps),
    apns: sqliteApns(deps),
    heartbeats: sqliteHeartbeats(deps),
    reportLinks: sqliteReportLinks(deps),
    senderLinks: sqliteSenderLinks(deps),
    seals: sqliteSeals(deps),
    uptime: sqliteUptime(deps),
    nodes: null,
    load: () => null,
    purge: () => deps.write((tx) => purgeClaims(tx) + purgeSessions(tx)),
    close: () => store.close(),
  };
}
