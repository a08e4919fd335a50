import type { TenantRegistry } from "./tenant-registry.ts";

/** No tenants, for a node that shares its registry: their stores would lie where other nodes can't see them. */
export const noTenants: TenantRegistry = {
  find: async () => null,
  findLinked: async () => null,
  survey: async () => {},
  plan: () => "free",
  look: async () => false,
  wake() {},
  stop: async () => {},
  stats: () => ({ open: 0, opened: 0, closed: 0, broken: 0 }),
};
