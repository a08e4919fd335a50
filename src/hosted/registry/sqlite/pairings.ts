import type { Role } from "../../../ground/store/columns.ts";
import type { Reader, Tx } from "../../../ground/store/store.ts";
import type {
  FirstPairing,
  LaterPairing,
  NewPairing,
  Pairing,
  Pairings,
  Revocation,
} from "../pairings.ts";
import { findAccount, findByEmail } from "./accounts.ts";
import type { SqliteDeps } from "./deps.ts";
import { mintRelayKey } from "./relay-keys.ts";
import { findTenant, roleOf } from "./tenants.ts";

const COLUMNS = `account_id AS accountId, box_account_id AS boxAccountId,
  created_at AS createdAt, revoked_at AS revokedAt`;

export function sqlitePairings(deps: SqliteDeps): Pairings {
  return {
    first: (pairing) => deps.write((tx) => first(tx, deps, pairing)),
    isPaired: async (pairing) => isPaired(deps.store, pairing),
    later: (pairing) => deps.write((tx) => later(tx, pairing)),
    list: async (tenantId) =>
      deps.store
        .sql<[tenantId: string], Pairing>(
          `SELECT ${COLUMNS} FROM pairings WHERE tenant_id = ? ORDER BY id`,
        )
        .all(tenantId),
    revoke: (change) => deps.write((tx) => revoke(tx, change)),
  };
}

function first(tx: Tx, deps: SqliteDeps, pairing: NewPairing): FirstPairing {
  const tenant = findTenant(tx, pairing.tenantId);
  if (tenant === null) return { kind: "not_found" };
  if (tenant.kind === "hosted") return { kind: "hosted" };
  // A revoked pairing counts, too: without this anybody could pair first again.
  const known = tx
    .sql<[id: string]>("SELECT 1 FROM pairings WHERE tenant_id = ? LIMIT 1")
    .get(tenant.id);
  if (known !== undefined) return { kind: "receipt_needed" };
  const account = findAccount(tx, pairing.accountId);
  if (account === null) return { kind: "not_found" };
  const { ownerEmail } = tenant;
  if (ownerEmail !== null && findByEmail(tx, ownerEmail)?.id !== account.id)
    return { kind: "not_found" };
  const credential = mintRelayKey(tx, deps.sealer, tenant.id);
  return { kind: "paired", pairing: insert(tx, pairing, "owner"), credential };
}

function later(tx: Tx, pairing: NewPairing & { boxTenantId: string }): LaterPairing {
  if (isPaired(tx, pairing)) return { kind: "already_paired" };
  const same = tx
    .sql<{ tenantId: string; boxTenantId: string }>(
      `UPDATE tenants SET box_tenant_id = @boxTenantId WHERE id = @tenantId AND kind = 'box'
       AND (box_tenant_id IS NULL OR box_tenant_id = @boxTenantId)`,
    )
    .run({ tenantId: pairing.tenantId, boxTenantId: pairing.boxTenantId });
  if (same.changes === 0) return { kind: "other_box" };
  return { kind: "paired", pairing: insert(tx, pairing, "member") };
}

function insert(tx: Tx, pairing: NewPairing, role: Role): Pairing {
  const { tenantId, accountId, boxAccountId } = pairing;
  tx.sql<[tenantId: string, accountId: string, boxAccountId: string, at: number]>(
    "INSERT INTO pairings (tenant_id, account_id, box_account_id, created_at) VALUES (?, ?, ?, ?)",
  ).run(tenantId, accountId, boxAccountId, tx.at);
  // The first account becomes the owner in any case; later ones keep their role.
  const known = role === "owner" ? "DO UPDATE SET role = excluded.role" : "DO NOTHING";
  tx.sql<[tenantId: string, accountId: string, role: string, at: number]>(
    `INSERT INTO memberships (tenant_id, account_id, role, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT ${known}`,
  ).run(tenantId, accountId, role, tx.at);
  return { accountId, boxAccountId, createdAt: tx.at, revokedAt: null };
}

function isPaired(reader: Reader, pairing: NewPairing): boolean {
  const live = reader
    .sql<[tenantId: string, accountId: string, boxAccountId: string]>(
      `SELECT 1 FROM pairings WHERE tenant_id = ? AND revoked_at IS NULL
       AND (account_id = ? OR box_account_id = ?) LIMIT 1`,
    )
    .get(pairing.tenantId, pairing.accountId, pairing.boxAccountId);
  return live !== undefined;
}

function revoke(tx: Tx, change: { tenantId: string; accountId: string; by: string }): Revocation {
  const role = roleOf(tx, change.tenantId, change.by);
  if (role === null) return { kind: "not_found" };
  if (role !== "owner" && change.by !== change.accountId) return { kind: "not_allowed" };
  const ended = tx
    .sql<[at: number, tenantId: string, accountId: string]>(
      `UPDATE pairings SET revoked_at = ?
       WHERE tenant_id = ? AND account_id = ? AND revoked_at IS NULL`,
    )
    .run(tx.at, change.tenantId, change.accountId);
  if (ended.changes > 0) return { kind: "revoked", now: true };
  const past = tx
    .sql<[tenantId: string, accountId: string]>(
      "SELECT 1 FROM pairings WHERE tenant_id = ? AND account_id = ? LIMIT 1",
    )
    .get(change.tenantId, change.accountId);
  return past === undefined ? { kind: "not_found" } : { kind: "revoked", now: false };
}
