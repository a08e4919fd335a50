import { notFound } from "../../ground/kit/errors.ts";
import { UsageError } from "../../ground/kit/flags.ts";
import type { Registry } from "../../hosted/registry/registry.ts";
import type { HostedTenant } from "../../hosted/registry/tenants.ts";

/** The tenant that gets a key. Throws UsageError, ServiceError not_found. */
export async function tenantForKey({ tenants }: Registry, id: string): Promise<HostedTenant> {
  const tenant = await tenants.get(id);
  if (tenant === null) throw notFound("tenant");
  if (tenant.kind === "box")
    throw new UsageError("A box mints its own keys: box pair-code, and POST /v1/pair there.");
  return tenant;
}
