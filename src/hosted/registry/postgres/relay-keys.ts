import { LRUCache } from "lru-cache";
import { atMost } from "../../../ground/kit/at-most.ts";
import { base62Secret, hexId } from "../../../ground/kit/ids.ts";
import {
  type RelayCredential,
  type RelayKey,
  type RelayKeys,
  type Rotation,
  relayKeyPlace,
} from "../relay-keys.ts";
import type { DatabaseTx } from "./connect.ts";
import type { PostgresDeps } from "./deps.ts";

/** Keys whose secrets are kept in memory. */
const MOST_KNOWN = 100_000;

/** A key's secret never changes, so it is cached. Whether the key is live is checked by each statement that uses it. */
export function postgresRelayKeys(deps: PostgresDeps): RelayKeys {
  const { database, sealer, random } = deps;
  const known = new LRUCache<string, RelayKey>(atMost(MOST_KNOWN));
  const decoyId = "rk_0";
  const decoy = sealer.seal(base62Secret(random), relayKeyPlace(decoyId));
  const read = async (keyId: string) => {
    const [row] = await database.query<{ tenantId: string; sealed: string }>(
      `SELECT tenant_id AS "tenantId", sealed FROM relay_keys WHERE id = $1 AND revoked_at IS NULL`,
      [keyId],
    );
    return row;
  };
  return {
    async find(keyId) {
      const remembered = known.get(keyId);
      if (remembered !== undefined) return remembered;
      const row = await read(keyId);
      if (row === undefined)
        return { tenantId: null, secret: sealer.open(decoy, relayKeyPlace(decoyId)) };
      const { tenantId, sealed } = row;
      const key: RelayKey = { tenantId, secret: sealer.open(sealed, relayKeyPlace(keyId)) };
      // A secret that can't be opened isn't cached: that changes with the key file.
      if (key.secret !== null) known.set(keyId, { ...key, isRemembered: true });
      return key;
    },
    async lives(keyId, { tenantId, isRemembered }) {
      if (isRemembered !== true) return tenantId !== null;
      const isLive = (await read(keyId)) !== undefined;
      if (!isLive) known.delete(keyId);
      return isLive;
    },
    rotate: (change) =>
      // Repeated after a lost answer it ends with one live key, the one in the answer.
      database.transaction((tx) => rotate(tx, deps, change), { repeatable: true }),
  };
}

async function rotate(
  tx: DatabaseTx,
  deps: PostgresDeps,
  { tenantId, by }: { tenantId: string; by: string },
): Promise<Rotation> {
  const [tenant] = await tx.query<{ kind: string; role: string | null }>(
    `SELECT t.kind, m.role FROM tenants t
     LEFT JOIN memberships m ON m.tenant_id = t.id AND m.account_id = $2
     WHERE t.id = $1 FOR NO KEY UPDATE OF t`,
    [tenantId, by],
  );
  if (tenant === undefined || tenant.role === null) return { kind: "not_found" };
  if (tenant.role !== "owner") return { kind: "not_owner" };
  if (tenant.kind === "hosted") return { kind: "hosted" };
  return { kind: "rotated", credential: await postgresMintRelayKey(tx, deps, tenantId) };
}

/** Creates a key for a box tenant and revokes every earlier one. The caller has locked the tenant's row. */
export async function postgresMintRelayKey(
  tx: DatabaseTx,
  { sealer, random }: Pick<PostgresDeps, "sealer" | "random">,
  tenantId: string,
): Promise<RelayCredential> {
  const keyId = `rk_${hexId(random)}`;
  const secret = base62Secret(random);
  await tx.query(
    "UPDATE relay_keys SET revoked_at = now() WHERE tenant_id = $1 AND revoked_at IS NULL",
    [tenantId],
  );
  await tx.query("INSERT INTO relay_keys (id, tenant_id, sealed) VALUES ($1, $2, $3)", [
    keyId,
    tenantId,
    sealer.seal(secret, relayKeyPlace(keyId)),
  ]);
  return { keyId, secret };
}

/** The ids of the keys that stored values are sealed with. */
export async function postgresSealedKeyIds({
  database,
}: Pick<PostgresDeps, "database">): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT DISTINCT substr(sealed, 4, 16) AS id FROM (
       SELECT sealed FROM relay_keys WHERE revoked_at IS NULL
       UNION ALL SELECT sealed FROM apns UNION ALL SELECT sealed FROM apns_tokens) AS all_sealed`,
  );
  return rows.map(({ id }) => id);
}
