import type { Log } from "../kit/log.ts";
import type { Store } from "../store/store.ts";
import type { Registry } from "./registry/registry.ts";

/** Writes into the registry which reports the open tenants have, so that their public addresses lead to them. */
export interface ReportLinkKeeper {
  /** Writes down the tenant's reports as they are, and again after each change. */
  follow(tenantId: string, store: Store): void;
  /** Waits until everything that was to be written is; what fails is logged. */
  written(): Promise<void>;
}

export function keepReportLinks({
  registry,
  log,
}: {
  registry: Registry;
  log: Log;
}): ReportLinkKeeper {
  const underWay = new Set<Promise<void>>();
  const link = (tenantId: string, store: Store) => {
    const uuids = store.sql<[], string>("SELECT public_uuid FROM reports").pluck().all();
    const work = registry.reportLinks.replace(tenantId, uuids).catch((error: unknown) => {
      log.error({ err: error, tenant: tenantId }, "a report's address could not be written down");
    });
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };
  return {
    follow(tenantId, store) {
      store.onCommit((notes) => {
        if (notes.some((note) => note.topic === "reports")) link(tenantId, store);
      });
      link(tenantId, store);
    },
    async written() {
      await Promise.all(underWay);
    },
  };
}
