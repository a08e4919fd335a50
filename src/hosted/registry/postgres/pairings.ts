import type { Role } from "../../../ground/store/columns.ts";
import type {
  FirstPairing,
  LaterPairing,
  NewPairing,
  Pairing,
  Pairings,
  Revocation,
} from "../pairings.ts";
import { postgresFindByEmail } from "./accounts.ts";
import type { DatabaseTx } from "./connect.ts";
import { type PostgresDeps, seconds } from "./deps.ts";
import { postgresMintRelayKey } from "./relay-keys.ts";
import { postgresLockTenant, postgresRole } from "./tenants.ts";

const COLUMNS = `account_id AS "accountId", box_account_id AS "boxAccountId",
  ${seconds("created_at")} AS "createdAt", ${seconds("revoked_at")} AS "revokedAt"`;

/**
 * What an earlier try of the same change did before its answer was lost. If that is stored, it is the answer. Otherwise
 * the caller would be told that somebody else was first, and never see the key.
 */
interface Tried<T> {
  made: { id: number; answer: T } | null;
}

export function postgresPairings(deps: PostgresDeps): Pairings {
  const { database } = deps;
  const repeatable = { repeatable: true };
  return {
    first(pairing) {
      const tried: Tried<FirstPairing> = { made: null };
      return database.transaction((tx) => first(tx, deps, { pairing, tried }), repeatable);
    },
    isPaired: (pairing) => isPaired(database, pairing),
    later(pairing) {
      const tried: Tried<LaterPairing> = { made: null };
      return database.transaction((tx) => later(tx, pairing, tried), repeatable);
    },
    list: (tenantId) =>
      database.query<Pairing>(`SELECT ${COLUMNS} FROM pairings WHERE tenant_id = $1 ORDER BY id`, [
        tenantId,
      ]),
    revoke(change) {
      const tried = { ended: false };
      return database.transaction((tx) => revoke(tx, change, tried), repeatable);
    },
  };
}

async function first(
  tx: DatabaseTx,
  deps: PostgresDeps,
  { pairing, tried }: { pairing: NewPairing; tried: Tried<FirstPairing> },
): Promise<FirstPairing> {
  const { tenantId, accountId } = pairing;
  const tenant = await postgresLockTenant(tx, tenantId);
  if (tenant === null) return { kind: "not_found" };
  if (tenant.kind === "hosted") return { kind: "hosted" };
  const earlier = await answeredBefore(tx, tried);
  if (earlier !== null) return earlier;
  // A revoked pairing counts, too: without this anybody could pair first again.
  const known = await tx.query("SELECT 1 FROM pairings WHERE tenant_id = $1 LIMIT 1", [tenantId]);
  if (known.length > 0) return { kind: "receipt_needed" };
  const account = await tx.query("SELECT 1 FROM accounts WHERE id = $1", [accountId]);
  if (account.length === 0) return { kind: "not_found" };
  const { ownerEmail } = tenant;
  if (ownerEmail !== null && (await postgresFindByEmail(tx, ownerEmail))?.id !== accountId)
    return { kind: "not_found" };
  const credential = await postgresMintRelayKey(tx, deps, tenantId);
  const made = await insert(tx, pairing, "owner");
  return keep(tried, made.id, { kind: "paired", pairing: made.pairing, credential });
}

async function later(
  tx: DatabaseTx,
  pairing: NewPairing & { boxTenantId: string },
  tried: Tried<LaterPairing>,
): Promise<LaterPairing> {
  const tenant = await postgresLockTenant(tx, pairing.tenantId);
  const earlier = await answeredBefore(tx, tried);
  if (earlier !== null) return earlier;
  if (await isPaired(tx, pairing)) return { kind: "already_paired" };
  const same = await tx.query(
    `UPDATE tenants SET box_tenant_id = $2 WHERE id = $1 AND kind = 'box'
     AND (box_tenant_id IS NULL OR box_tenant_id = $2) RETURNING 1`,
    [pairing.tenantId, pairing.boxTenantId],
  );
  if (tenant === null || same.length === 0) return { kind: "other_box" };
  const made = await insert(tx, pairing, "member");
  return keep(tried, made.id, { kind: "paired", pairing: made.pairing });
}

function keep<T>(tried: Tried<T>, id: number, answer: T): T {
  tried.made = { id, answer };
  return answer;
}

async function answeredBefore<T>(tx: DatabaseTx, { made }: Tried<T>): Promise<T | null> {
  if (made === null) return null;
  const there = await tx.query("SELECT 1 FROM pairings WHERE id = $1", [made.id]);
  return there.length > 0 ? made.answer : null;
}

async function insert(
  tx: DatabaseTx,
  { tenantId, accountId, boxAccountId }: NewPairing,
  role: Role,
): Promise<{ id: number; pairing: Pairing }> {
  const [row] = await tx.query<Pairing & { id: number }>(
    `INSERT INTO pairings (tenant_id, account_id, box_account_id, created_at)
     VALUES ($1, $2, $3, now()) RETURNING id, ${COLUMNS}`,
    [tenantId, accountId, boxAccountId],
  );
  // The first account becomes the owner in any case; later ones keep their role.
  const known = role === "owner" ? "UPDATE SET role = excluded.role" : "NOTHING";
  await tx.query(
    `INSERT INTO memberships (tenant_id, account_id, role, created_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (tenant_id, account_id) DO ${known}`,
    [tenantId, accountId, role],
  );
  const { id, ...pairing } = row as Pairing & { id: number };
  return { id, pairing };
}

async function isPaired(asker: Pick<DatabaseTx, "query">, pairing: NewPairing): Promise<boolean> {
  const live = await asker.query(
    `SELECT 1 FROM pairings WHERE tenant_id = $1 AND revoked_at IS NULL
     AND (account_id = $2 OR box_account_id = $3) LIMIT 1`,
    [pairing.tenantId, pairing.accountId, pairing.boxAccountId],
  );
  return live.length > 0;
}

async function revoke(
  tx: DatabaseTx,
  { tenantId, accountId, by }: { tenantId: string; accountId: string; by: string },
  tried: { ended: boolean },
): Promise<Revocation> {
  const role = await postgresRole(tx, tenantId, by);
  if (role === null) return { kind: "not_found" };
  if (role !== "owner" && by !== accountId) return { kind: "not_allowed" };
  const ended = await tx.query(
    `UPDATE pairings SET revoked_at = now()
     WHERE tenant_id = $1 AND account_id = $2 AND revoked_at IS NULL RETURNING 1`,
    [tenantId, accountId],
  );
  const past = await tx.query(
    "SELECT 1 FROM pairings WHERE tenant_id = $1 AND account_id = $2 LIMIT 1",
    [tenantId, accountId],
  );
  if (past.length === 0) return { kind: "not_found" };
  // If an earlier try found it live, that try ended it.
  tried.ended ||= ended.length > 0;
  return { kind: "revoked", now: tried.ended };
}
