import { base62Secret, hexId } from "../../../ground/kit/ids.ts";
import type { Reader, Tx } from "../../../ground/store/store.ts";
import type { RegistrySealer } from "../registry.ts";
import {
  type RelayCredential,
  type RelayKeys,
  type Rotation,
  relayKeyPlace,
} from "../relay-keys.ts";
import type { SqliteDeps } from "./deps.ts";
import { findTenant, roleOf } from "./tenants.ts";

export function mintRelayKey(tx: Tx, sealer: RegistrySealer, tenantId: string): RelayCredential {
  const credential = { keyId: `rk_${hexId(tx.random)}`, secret: base62Secret(tx.random) };
  tx.sql<[at: number, tenantId: string]>(
    "UPDATE relay_keys SET revoked_at = ? WHERE tenant_id = ? AND revoked_at IS NULL",
  ).run(tx.at, tenantId);
  tx.sql<[string, string, string, number]>(
    "INSERT INTO relay_keys (id, tenant_id, sealed, created_at) VALUES (?, ?, ?, ?)",
  ).run(
    credential.keyId,
    tenantId,
    sealer.seal(credential.secret, relayKeyPlace(credential.keyId)),
    tx.at,
  );
  return credential;
}

export function sqliteRelayKeys(deps: SqliteDeps): RelayKeys {
  const { store, sealer } = deps;
  const decoyId = "rk_0";
  const decoy = sealer.seal(base62Secret(store.random), relayKeyPlace(decoyId));
  return {
    async find(keyId) {
      const row = store
        .sql<[keyId: string], { tenant_id: string; sealed: string }>(
          "SELECT tenant_id, sealed FROM relay_keys WHERE id = ? AND revoked_at IS NULL",
        )
        .get(keyId);
      if (row === undefined)
        return { tenantId: null, secret: sealer.open(decoy, relayKeyPlace(decoyId)) };
      return { tenantId: row.tenant_id, secret: sealer.open(row.sealed, relayKeyPlace(keyId)) };
    },
    // `find` has read it from the database.
    lives: async (_keyId, { tenantId }) => tenantId !== null,
    rotate: (change) =>
      deps.write((tx): Rotation => {
        const role = roleOf(tx, change.tenantId, change.by);
        const tenant = findTenant(tx, change.tenantId);
        if (role === null || tenant === null) return { kind: "not_found" };
        if (role !== "owner") return { kind: "not_owner" };
        if (tenant.kind === "hosted") return { kind: "hosted" };
        return { kind: "rotated", credential: mintRelayKey(tx, sealer, change.tenantId) };
      }),
  };
}

/** The ids of the keys that stored values are sealed with. */
export function sqliteSealedKeyIds(reader: Reader): string[] {
  return reader
    .sql<[], string>(
      `SELECT DISTINCT substr(sealed, 4, 16) FROM (
         SELECT sealed FROM relay_keys WHERE revoked_at IS NULL UNION ALL SELECT sealed FROM apns)`,
    )
    .pluck()
    .all();
}
