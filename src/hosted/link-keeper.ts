import type { Log } from "../ground/kit/log.ts";
import type { Note, Store } from "../ground/store/store.ts";
import type { Registry } from "./registry/registry.ts";
import type { TenantLinks } from "./registry/tenant-links.ts";

/** Keeps the registry's index of links and tokens that lead to open tenants. */
export type LinkKeeper = ReturnType<typeof keepLinks>;

interface Kept {
  links: TenantLinks;
  /** The topics whose changes cause another write. */
  topics: readonly Note["topic"][];
  keys: string;
}

export function keepLinks({ registry, log }: { registry: Registry; log: Log }) {
  const kept: readonly Kept[] = [
    {
      links: registry.reportLinks,
      topics: ["reports"],
      keys: "SELECT public_uuid FROM reports",
    },
    {
      links: registry.senderLinks,
      topics: ["sources", "ping-addresses", "calendars", "project-deleted"],
      keys: `SELECT short_hash FROM sources WHERE short_hash IS NOT NULL UNION SELECT hash FROM source_keys
        UNION SELECT secret_hash FROM heartbeats UNION SELECT uuid_hash FROM heartbeats UNION SELECT hash FROM calendars`,
    },
  ];
  const underWay = new Set<Promise<void>>();
  const write = (tenantId: string, store: Store, { links, keys }: Kept) => {
    const all = store.sql<[], string>(keys).pluck().all();
    const work = links.replace(tenantId, all).catch((error: unknown) => {
      log.error({ err: error, tenant: tenantId }, "a tenant's addresses could not be written down");
    });
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };
  return {
    /** Writes the tenant's links now, and again after each change. */
    follow(tenantId: string, store: Store) {
      store.onCommit((notes) => {
        const told = new Set(notes.map(({ topic }) => topic));
        for (const one of kept)
          if (one.topics.some((topic) => told.has(topic))) write(tenantId, store, one);
      });
      for (const one of kept) write(tenantId, store, one);
    },
    /** Resolves when everything is written; failures are logged. */
    async written() {
      await Promise.all(underWay);
    },
  };
}
