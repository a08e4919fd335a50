import { hexId } from "../../../ground/kit/ids.ts";
import type { Role } from "../../../ground/store/columns.ts";
import { lowerEmail } from "../accounts.ts";
import type { HostedTenant, Member, Memberships, Tenants } from "../tenants.ts";
import type { DatabaseTx } from "./connect.ts";
import { type PostgresDeps, seconds } from "./deps.ts";

const COLUMNS = `id, kind, plan, owner_folded AS "ownerEmail", box_url AS "boxUrl",
  box_tenant_id AS "boxTenantId", watch_seconds AS "watchSeconds", ${seconds("created_at")} AS "createdAt"`;

export function postgresTenants({ database, random }: PostgresDeps): Tenants {
  const get = async (id: string) => {
    const [row] = await database.query<HostedTenant>(
      `SELECT ${COLUMNS} FROM tenants WHERE id = $1`,
      [id],
    );
    return row ?? null;
  };
  return {
    async add({ kind, boxUrl = null, ownerEmail }) {
      const id = hexId(random);
      // Lower case, but otherwise as written: it must find the account that the operator meant.
      const owner = ownerEmail === undefined ? null : lowerEmail(ownerEmail);
      await database.query(
        `INSERT INTO tenants (id, kind, plan, owner_folded, box_url, box_stamp, created_at)
         VALUES ($1, $2, 'free', $3, $4, CASE WHEN $4::text IS NULL THEN 0 ELSE ${seconds("now()")} END, now())
         ON CONFLICT DO NOTHING`,
        [id, kind, owner, boxUrl],
      );
      return (await get(id)) as HostedTenant;
    },
    get,
    list: ({ after, limit }) =>
      database.query<HostedTenant>(
        `SELECT ${COLUMNS} FROM tenants WHERE id > $1 ORDER BY id LIMIT $2`,
        [after, limit],
      ),
    async set(id, { boxUrl = null, plan = null, watchSeconds = null }) {
      // A newly set address outranks every announcement under way, which would bring back the old one.
      const known = await database.query(
        `UPDATE tenants SET box_url = coalesce($2, box_url), plan = coalesce($3, plan),
           box_stamp = CASE WHEN $2::text IS NULL THEN box_stamp ELSE ${seconds("now()")} END,
           watch_seconds = coalesce($4::int, watch_seconds)
         WHERE id = $1 RETURNING 1`,
        [id, boxUrl, plan, watchSeconds],
      );
      return known.length > 0;
    },
    announce: (news) => database.transaction((tx) => announce(tx, news), { repeatable: true }),
    async setNextDue(id, atMs) {
      await database.query("UPDATE tenants SET next_due_ms = $2 WHERE id = $1", [id, atMs]);
    },
    async due(nowMs, limit) {
      const rows = await database.query<{ id: string }>(
        `SELECT id FROM tenants t WHERE next_due_ms <= $1
           AND NOT EXISTS (SELECT 1 FROM tenant_stores s
             WHERE s.tenant_id = t.id AND s.alive_until > clock_timestamp())
         ORDER BY next_due_ms LIMIT $2`,
        [nowMs, limit],
      );
      return rows.map(({ id }) => id);
    },
    async nextDue() {
      const [row] = await database.query<{ at: number | null }>(
        "SELECT min(next_due_ms) AS at FROM tenants WHERE next_due_ms IS NOT NULL",
      );
      return row?.at ?? null;
    },
  };
}

/** Locks the tenant's row, so that changes of its members and keys wait for each other. */
export async function postgresLockTenant(
  tx: DatabaseTx,
  id: string,
): Promise<Pick<HostedTenant, "kind" | "ownerEmail" | "boxTenantId"> | null> {
  const [row] = await tx.query<Pick<HostedTenant, "kind" | "ownerEmail" | "boxTenantId">>(
    `SELECT kind, owner_folded AS "ownerEmail", box_tenant_id AS "boxTenantId"
     FROM tenants WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  return row ?? null;
}

/** Checks the key after locking the tenant, so that a rotated key no longer counts as live. */
async function announce(
  tx: DatabaseTx,
  { tenantId, relayKeyId, boxUrl, boxTenantId, stamp }: Parameters<Tenants["announce"]>[0],
): Promise<"told" | "old" | "revoked"> {
  await postgresLockTenant(tx, tenantId);
  const live = await tx.query(
    "SELECT 1 FROM relay_keys WHERE id = $1 AND tenant_id = $2 AND revoked_at IS NULL",
    [relayKeyId, tenantId],
  );
  if (live.length === 0) return "revoked";
  const told = await tx.query(
    `UPDATE tenants SET box_url = $2, box_tenant_id = $3, box_stamp = $4
     WHERE id = $1 AND kind = 'box' AND box_stamp <= $4 RETURNING 1`,
    [tenantId, boxUrl, boxTenantId, stamp],
  );
  return told.length > 0 ? "told" : "old";
}

export function postgresMemberships({ database }: PostgresDeps): Memberships {
  return {
    async put({ tenantId, accountId, role }) {
      await database.query(
        `INSERT INTO memberships (tenant_id, account_id, role, created_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (tenant_id, account_id) DO UPDATE SET role = excluded.role`,
        [tenantId, accountId, role],
      );
    },
    role: (tenantId, accountId) => postgresRole(database, tenantId, accountId),
    list: (tenantId) =>
      database.query<Member>(
        `SELECT a.id AS "accountId", a.email, m.role FROM memberships m
         JOIN accounts a ON a.id = m.account_id WHERE m.tenant_id = $1 ORDER BY a.id`,
        [tenantId],
      ),
  };
}

export async function postgresRole(
  asker: Pick<DatabaseTx, "query">,
  tenantId: string,
  accountId: string,
): Promise<Role | null> {
  const [row] = await asker.query<{ role: Role }>(
    "SELECT role FROM memberships WHERE tenant_id = $1 AND account_id = $2",
    [tenantId, accountId],
  );
  return row?.role ?? null;
}
