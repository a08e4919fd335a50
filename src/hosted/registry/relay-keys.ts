import { base62Secret, hexId } from "../../kit/ids.ts";
import type { Reader, Tx } from "../../store/store.ts";
import type { RegistrySealer, Room } from "./room.ts";
import { findTenant, roleOf } from "./tenants.ts";

/** A relay credential as its box gets it; the secret is never shown again. */
export interface RelayCredential {
  /** `rk_` and 16 hex characters. */
  keyId: string;
  /** 43 base62 characters. */
  secret: string;
}

/** Whose key it is. `tenantId` is null for a key that is unknown or revoked. */
export interface RelayKey {
  tenantId: string | null;
  /** For an unknown key a secret nobody has; null where the sealed one can't be opened. */
  secret: string | null;
}

export type Rotation =
  | { kind: "rotated"; credential: RelayCredential }
  /** No such tenant, or the caller is no member of it: the two look the same. */
  | { kind: "not_found" }
  | { kind: "not_owner" }
  | { kind: "hosted" };

export interface RelayKeys {
  /** Looks a key up with the same work whether it is known or not. */
  find(keyId: string): Promise<RelayKey>;
  /** Mints a fresh key for a box tenant and revokes every earlier one; the owner's alone. */
  rotate(change: { tenantId: string; by: string }): Promise<Rotation>;
}

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
    sealer.seal(credential.secret, contextOf(credential.keyId)),
    tx.at,
  );
  return credential;
}

export function relayKeysIn(room: Room): RelayKeys {
  const { store, sealer } = room;
  const decoyId = "rk_0";
  const decoy = sealer.seal(base62Secret(store.random), contextOf(decoyId));
  return {
    async find(keyId) {
      const row = store
        .sql<[keyId: string], { tenant_id: string; sealed: string }>(
          "SELECT tenant_id, sealed FROM relay_keys WHERE id = ? AND revoked_at IS NULL",
        )
        .get(keyId);
      if (row === undefined)
        return { tenantId: null, secret: sealer.open(decoy, contextOf(decoyId)) };
      return { tenantId: row.tenant_id, secret: sealer.open(row.sealed, contextOf(keyId)) };
    },
    rotate: (change) =>
      room.write((tx): Rotation => {
        const role = roleOf(tx, change.tenantId, change.by);
        const tenant = findTenant(tx, change.tenantId);
        if (role === null || tenant === null) return { kind: "not_found" };
        if (role !== "owner") return { kind: "not_owner" };
        if (tenant.kind === "hosted") return { kind: "hosted" };
        return { kind: "rotated", credential: mintRelayKey(tx, sealer, change.tenantId) };
      }),
  };
}

function contextOf(keyId: string): string {
  return `relay_keys|${keyId}`;
}

/** The ids of the keys that the registry's sealed values name. */
export function sealedKeyIdsIn(reader: Reader): string[] {
  return reader
    .sql<[], string>(
      `SELECT DISTINCT substr(sealed, 4, 16) FROM (
         SELECT sealed FROM relay_keys WHERE revoked_at IS NULL UNION ALL SELECT sealed FROM apns)`,
    )
    .pluck()
    .all();
}
