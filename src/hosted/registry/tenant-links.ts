/** What leads to a hosted tenant from outside and doesn't name it: an index from that to the tenant. */
export interface TenantLinks {
  /** The tenant that `key` leads to; of several the one that had it first. */
  find(key: string): Promise<string | null>;
  /** Makes `keys` all that lead to the tenant. */
  replace(tenantId: string, keys: readonly string[]): Promise<void>;
}
