import type { Role } from "../../ground/store/columns.ts";

export type TenantKind = "box" | "hosted";
export type Plan = "free" | "pro";

export interface HostedTenant {
  /** 16 hex characters. */
  id: string;
  kind: TenantKind;
  plan: Plan;
  /** The only account that may make the first pairing, folded; null: any account. */
  ownerEmail: string | null;
  /** The address where receipts are checked; null while neither a box nor an operator has given one. */
  boxUrl: string | null;
  /** The box's own tenant id. */
  boxTenantId: string | null;
  /** Seconds of silence until a box is reported; 0: never. */
  watchSeconds: number;
  createdAt: number;
}

export interface Tenants {
  add(tenant: { kind: TenantKind; boxUrl?: string; ownerEmail?: string }): Promise<HostedTenant>;
  get(id: string): Promise<HostedTenant | null>;
  /** By id, those after `after`, at most `limit`. */
  list(page: { after: string; limit: number }): Promise<HostedTenant[]>;
  /** Sets the given fields; false for an unknown tenant. */
  set(
    id: string,
    change: { boxUrl?: string; plan?: Plan; watchSeconds?: number },
  ): Promise<boolean>;
  /**
   * Stores what a box reports about itself in an event of time `stamp` (seconds). `old`: something newer is stored, or
   * the tenant is no box. `revoked`: the key that signed it isn't live any more.
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
  /** The hosted tenants that are due, the longest waiting first. In a database: those that no living node has. */
  due(nowMs: number, limit: number): Promise<string[]>;
  /** The earliest due time of all; null: none. */
  nextDue(): Promise<number | null>;
}

export interface Member {
  accountId: string;
  email: string;
  role: Role;
}

export interface Memberships {
  /** Makes the account a member with this role, or changes a member's role. */
  put(membership: { tenantId: string; accountId: string; role: Role }): Promise<void>;
  /** The account's present role; null: no member, or no such tenant. */
  role(tenantId: string, accountId: string): Promise<Role | null>;
  list(tenantId: string): Promise<Member[]>;
}
