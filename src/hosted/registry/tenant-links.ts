/** An index from links and tokens that don't name their tenant to the hosted tenant. */
export interface TenantLinks {
  /** The tenant of `key`; of several the first one. */
  find(key: string): Promise<string | null>;
  /** Makes `keys` the only ones that lead to the tenant. */
  replace(tenantId: string, keys: readonly string[]): Promise<void>;
}
