import { hexId } from "../../../ground/kit/ids.ts";
import type { Role } from "../../../ground/store/columns.ts";
import type { Reader, Tx } from "../../../ground/store/store.ts";
import { lowerEmail } from "../accounts.ts";
import type { HostedTenant, Member, Memberships, TenantKind, Tenants } from "../tenants.ts";
import type { SqliteDeps } from "./deps.ts";
import { isLiveKey } from "./live-key.ts";

const COLUMNS = `id, kind, plan, owner_folded AS ownerEmail, box_url AS boxUrl,
  box_tenant_id AS boxTenantId, watch_seconds AS watchSeconds, created_at AS createdAt`;

export function findTenant(reader: Reader, id: string): HostedTenant | null {
  const row = reader.sql<[id: string]>(`SELECT ${COLUMNS} FROM tenants WHERE id = ?`).get(id);
  return (row as HostedTenant | undefined) ?? null;
}

export function idsWithoutBox(reader: Reader): string[] {
  return reader.sql<[], string>("SELECT id FROM tenants WHERE kind = 'hosted'").pluck().all();
}

export function sqliteTenants(deps: SqliteDeps): Tenants {
  const { store, write } = deps;
  return {
    add: (tenant) => write((tx) => insert(tx, tenant)),
    get: async (id) => findTenant(store, id),
    list: async (page) =>
      store
        .sql<[after: string, limit: number], HostedTenant>(
          `SELECT ${COLUMNS} FROM tenants WHERE id > ? ORDER BY id LIMIT ?`,
        )
        .all(page.after, page.limit),
    set: (id, change) =>
      write((tx) => {
        if (findTenant(tx, id) === null) return false;
        if (change.boxUrl !== undefined) {
          // Outranks every announcement under way, which would bring back the old address.
          tx.sql<[boxUrl: string, at: number, id: string]>(
            "UPDATE tenants SET box_url = ?, box_stamp = ? WHERE id = ?",
          ).run(change.boxUrl, tx.at, id);
        }
        tx.sql<[string | null, number | null, string]>(
          "UPDATE tenants SET plan = coalesce(?, plan), watch_seconds = coalesce(?, watch_seconds) WHERE id = ?",
        ).run(change.plan ?? null, change.watchSeconds ?? null, id);
        return true;
      }),
    announce: (news) =>
      write((tx) => {
        if (!isLiveKey(tx, news)) return "revoked";
        const told = tx
          .sql<[string, string, number, string, number]>(
            `UPDATE tenants SET box_url = ?, box_tenant_id = ?, box_stamp = ?
             WHERE id = ? AND kind = 'box' AND box_stamp <= ?`,
          )
          .run(news.boxUrl, news.boxTenantId, news.stamp, news.tenantId, news.stamp);
        return told.changes > 0 ? "told" : "old";
      }),
    setNextDue: (id, atMs) =>
      write((tx) => {
        tx.sql<[atMs: number | null, id: string]>(
          "UPDATE tenants SET next_due_ms = ? WHERE id = ?",
        ).run(atMs, id);
      }),
    due: async (nowMs, limit) =>
      store
        .sql<[nowMs: number, limit: number], string>(
          "SELECT id FROM tenants WHERE next_due_ms <= ? ORDER BY next_due_ms LIMIT ?",
        )
        .pluck()
        .all(nowMs, limit),
    nextDue: async () =>
      store
        .sql<[], number | null>(
          "SELECT min(next_due_ms) FROM tenants WHERE next_due_ms IS NOT NULL",
        )
        .pluck()
        .get() ?? null,
  };
}

function insert(
  tx: Tx,
  tenant: { kind: TenantKind; boxUrl?: string; ownerEmail?: string },
): HostedTenant {
  const id = hexId(tx.random);
  const { ownerEmail } = tenant;
  // Lower case, but otherwise as written: it must find the account that the operator meant.
  const owner = ownerEmail === undefined ? null : lowerEmail(ownerEmail);
  const stamp = tenant.boxUrl === undefined ? 0 : tx.at;
  tx.sql<[string, string, string | null, string | null, number, number]>(
    `INSERT INTO tenants (id, kind, plan, owner_folded, box_url, box_stamp, created_at)
     VALUES (?, ?, 'free', ?, ?, ?, ?)`,
  ).run(id, tenant.kind, owner, tenant.boxUrl ?? null, stamp, tx.at);
  return findTenant(tx, id) as HostedTenant;
}

export function roleOf(reader: Reader, tenantId: string, accountId: string): Role | null {
  const role = reader
    .sql<[tenantId: string, accountId: string]>(
      "SELECT role FROM memberships WHERE tenant_id = ? AND account_id = ?",
    )
    .pluck()
    .get(tenantId, accountId);
  return (role as Role | undefined) ?? null;
}

export function sqliteMemberships(deps: SqliteDeps): Memberships {
  return {
    put: (membership) =>
      deps.write((tx) => {
        tx.sql<[tenantId: string, accountId: string, role: string, at: number]>(
          `INSERT INTO memberships (tenant_id, account_id, role, created_at) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET role = excluded.role`,
        ).run(membership.tenantId, membership.accountId, membership.role, tx.at);
      }),
    role: async (tenantId, accountId) => roleOf(deps.store, tenantId, accountId),
    list: async (tenantId) =>
      deps.store
        .sql<[tenantId: string], Member>(
          `SELECT a.id AS accountId, a.email, m.role FROM memberships m
           JOIN accounts a ON a.id = m.account_id WHERE m.tenant_id = ? ORDER BY a.id`,
        )
        .all(tenantId),
  };
}
