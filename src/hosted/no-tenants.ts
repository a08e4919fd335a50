import type { TenantRegistry } from "./tenant-registry.ts";

/**
 * The tenants of a node that shares its registry: the stores of hosted tenants would lie on the disk of one node, where no
 * other sees them, so there are none.
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
