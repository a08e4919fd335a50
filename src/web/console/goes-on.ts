import { configVersions } from "../../core/projects/projects.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** Addresses that are no pages and lead to one: where that is; null for every other. */
export function goesOn({ store }: Pick<Tenant, "store">, path: string): string | null {
  // Nothing can have happened yet: what is done first, before a list of alerts.
  if (path === "/") return configVersions(store).length === 0 ? "/welcome" : "/alerts";
  // Each other tab of a project has an address by its name; this is the first.
  return /^(\/p\/[^/]+)\/sources\/?$/.exec(path)?.[1] ?? null;
}
