import type { TenantRegistry } from "./tenant-registry.ts";

/**
 * The tenants of a node that shares its registry: none. Their stores would lie on one node's disk, where the others
 * can't see them.
 */
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
