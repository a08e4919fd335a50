import type { Role } from "../../ground/store/columns.ts";

export type TenantKind = "box" | "hosted";
export type Plan = "free" | "pro";

export interface HostedTenant {
  /** 16 hex characters. */
  id: string;
  kind: TenantKind;
  plan: Plan;
  /** The only account that may make the first pairing, folded; null: anyone may. */
  ownerEmail: string | null;
  /** Where receipts are checked; null while no box or operator has said. */
  boxUrl: string | null;
  /** The tenant id that the box itself goes by. */
  boxTenantId: string | null;
  /** A box silent for longer is reported; 0: never. */
  watchSeconds: number;
  createdAt: number;
}

export interface Tenants {
  add(tenant: { kind: TenantKind; boxUrl?: string; ownerEmail?: string }): Promise<HostedTenant>;
  get(id: string): Promise<HostedTenant | null>;
  /** By id, those after `after`, at most `limit`. */
  list(page: { after: string; limit: number }): Promise<HostedTenant[]>;
  /** Sets what is given; false for an unknown tenant. */
  set(
    id: string,
    change: { boxUrl?: string; plan?: Plan; watchSeconds?: number },
  ): Promise<boolean>;
  /**
   * Records what a box says of itself in an event of time `stamp` (seconds). `old`: something newer is known already,
   * or the tenant is no box. `revoked`: the key that it was signed with isn't live any more.
   */
  announce(news: {
    tenantId: string;
    relayKeyId: string;
    boxUrl: string;
    boxTenantId: string;
    stamp: number;
  }): Promise<"told" | "old" | "revoked">;
  /** When a hosted tenant next has work to do, in milliseconds; null: nothing is due. */
  setNextDue(id: string, atMs: number | null): Promise<void>;
  /** The hosted tenants whose time has come, the longest waiting first. */
  due(nowMs: number, limit: number): Promise<string[]>;
  /** The earliest next-due time of all; null: none. */
  nextDue(): Promise<number | null>;
}

export interface Member {
  accountId: string;
  email: string;
  role: Role;
}

export interface Memberships {
  /** Makes the account a member with this role, or gives a member this role. */
  put(membership: { tenantId: string; accountId: string; role: Role }): Promise<void>;
  /** The account's live role; null: no member, or no such tenant. */
  role(tenantId: string, accountId: string): Promise<Role | null>;
  list(tenantId: string): Promise<Member[]>;
}
