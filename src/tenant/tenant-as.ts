import { type Author, auditedStore } from "../ground/audit/record.ts";
import type { Tenant } from "./tenant.ts";

/** The tenant for one author: every write through it makes audit entries. */
export function tenantAs(tenant: Tenant, author: Author): Tenant {
  const store = auditedStore(tenant.store, author);
  const devices = tenant.devices.through?.(store) ?? tenant.devices;
  return Object.create(tenant, { store: { value: store }, devices: { value: devices } }) as Tenant;
}
