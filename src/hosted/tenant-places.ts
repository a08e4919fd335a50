import type { Tenant, TenantOptions } from "../tenant/tenant.ts";
import type { Registry } from "./registry/registry.ts";
import type { Outage } from "./registry/uptime.ts";
import { outOfStep, storeStamp } from "./tenant-seal.ts";

/** Where hosted tenants' stores lie, and who has them. */
export interface TenantPlaces {
  /** Rejects with ElsewhereError where another node serves it. */
  mustBeFree(id: string): Promise<void>;
  /** The state of a closed tenant's store, for its seal. */
  stamp(id: string): Promise<string>;
  /** Tenants whose stores may have changed while nobody served. */
  changed(): AsyncIterable<string>;
  /** Opens the store and starts the tenant's work. Rejects with StoreFault, ElsewhereError. */
  start(id: string, hooks: StartHooks): Promise<Tenant>;
  /** When a tenant that is being closed has to be opened again; written once it is closed, at the latest. */
  rest(id: string, atMs: number): Promise<void>;
  /** Takes what was left for these tenants, which are open here. */
  takeLeft(isOpen: (id: string) => boolean): Promise<void>;
  /** Gives back stores that are still made ready here, which may take minutes. Resolves when other nodes may take them. */
  giveBack(): Promise<void>;
  /** Whether a tenant waits that was served, and may have given out addresses that the registry doesn't know. */
  hasUnknown(): Promise<boolean>;
}

export interface StartHooks {
  atClose(closing: Pick<Tenant, "store" | "ingest">): void;
  /** From now on nothing may be written to this tenant's store. */
  onFatal(error: unknown): void;
  /** It isn't this node's any more, or nobody knows: it is closed, and what it hasn't said isn't said. */
  onLost(why: string): void;
}

/**
 * Starts a tenant on its file. `kept`: what keeps its commits in a database, and when the tenant itself was down; null
 * there: while the service was.
 */
export type StartHosted = (
  id: string,
  path: string,
  hooks: StartHooks,
  kept?: Pick<TenantOptions, "keeper" | "durable" | "closed"> & {
    outages: readonly Outage[] | null;
  },
) => Tenant;

/** Stores that are files of this process alone. */
export function filePlaces({
  registry,
  path,
  prepare,
  start,
}: {
  registry: Registry;
  path(id: string): string;
  /** Brings a file to this program's schema where that takes long, while the others are served. */
  prepare(path: string): Promise<void>;
  start: StartHosted;
}): TenantPlaces {
  return {
    mustBeFree: async () => {},
    stamp: async (id) => storeStamp(path(id)),
    changed: () => outOfStep(registry, path),
    async start(id, hooks) {
      await prepare(path(id));
      return start(id, path(id), hooks);
    },
    rest: (id, atMs) => registry.tenants.setNextDue(id, atMs),
    takeLeft: async () => {},
    giveBack: async () => {},
    hasUnknown: async () => false,
  };
}
