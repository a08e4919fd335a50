import type { Reader, Tx } from "../../../ground/store/store.ts";
import type { Device } from "../../../people/device.ts";
import { MOST_DEVICES } from "../../../people/devices.ts";
import { type Audience, type Devices, type Recipient, recipientsOf } from "../devices.ts";
import type { SqliteDeps } from "./deps.ts";

// CROSS JOIN fixes the order: from a tenant's few people to their devices.
const HANDSETS = {
  pairings: `SELECT p.box_account_id AS person, d.token, d.critical_alerts AS critical
    FROM pairings p
    CROSS JOIN memberships m ON m.tenant_id = p.tenant_id AND m.account_id = p.account_id
    CROSS JOIN devices d ON d.account_id = p.account_id
    WHERE p.tenant_id = ? AND p.revoked_at IS NULL AND d.set_aside_ms IS NULL`,
  memberships: `SELECT m.account_id AS person, d.token, d.critical_alerts AS critical
    FROM memberships m
    CROSS JOIN devices d ON d.account_id = m.account_id
    WHERE m.tenant_id = ? AND d.set_aside_ms IS NULL`,
} as const;

export function sqliteDevices(deps: SqliteDeps): Devices {
  return {
    list: async (accountId) => list(deps.store, accountId),
    put: (device) => deps.write((tx) => put(tx, device)),
    remove: (accountId, token) =>
      deps.write((tx) => {
        const gone = tx
          .sql<[string, string]>("DELETE FROM devices WHERE account_id = ? AND token = ?")
          .run(accountId, token.toLowerCase());
        return gone.changes > 0;
      }),
    recipients: async (audience) => ({
      atMs: deps.store.clock.now(),
      recipients: recipients(deps.store, audience),
    }),
    isRecipient: async (audience, token) =>
      recipients(deps.store, audience).some((recipient) => recipient.token === token),
    async retire(verdicts) {
      if (verdicts.gone.length + verdicts.bad.length === 0) return;
      await deps.write((tx) => retire(tx, verdicts));
    },
  };
}

function recipients(reader: Reader, audience: Audience): Recipient[] {
  const rows = reader
    .sql<[tenantId: string], { person: string; token: string; critical: number }>(
      HANDSETS[audience.through],
    )
    .all(audience.tenantId);
  const handsets = rows.map((row) => ({ ...row, critical: row.critical === 1 }));
  return recipientsOf(handsets, audience.only);
}

function list(reader: Reader, accountId: string): Device[] {
  const rows = reader
    .sql<
      [accountId: string],
      Omit<Device, "criticalAlerts" | "lastSeenAt"> & {
        critical: number;
        ms: number;
      }
    >(
      `SELECT token, platform, critical_alerts AS critical, created_at AS createdAt, registered_ms AS ms
       FROM devices WHERE account_id = ? ORDER BY created_at, token`,
    )
    .all(accountId);
  return rows.map(({ critical, ms, ...device }) => ({
    ...device,
    criticalAlerts: critical === 1,
    lastSeenAt: Math.floor(ms / 1000),
  }));
}

function put(
  tx: Tx,
  device: { accountId: string; token: string; platform: string; criticalAlerts: boolean },
): "registered" | "too_many" {
  const token = device.token.toLowerCase();
  const others = tx
    .sql<[accountId: string, token: string], number>(
      "SELECT count(*) FROM devices WHERE account_id = ? AND token <> ?",
    )
    .pluck()
    .get(device.accountId, token);
  if ((others ?? 0) >= MOST_DEVICES) return "too_many";
  tx.sql<[string, string, string, number, number, number]>(
    `INSERT INTO devices (account_id, token, platform, critical_alerts, created_at, registered_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET platform = excluded.platform, critical_alerts = excluded.critical_alerts,
       registered_ms = excluded.registered_ms, set_aside_ms = NULL`,
  ).run(
    device.accountId,
    token,
    device.platform,
    device.criticalAlerts ? 1 : 0,
    tx.at,
    tx.clock.now(),
  );
  return "registered";
}

function retire(
  tx: Tx,
  verdicts: {
    readAtMs: number;
    gone: readonly { token: string; atMs: number | null }[];
    bad: readonly string[];
  },
): void {
  const { readAtMs } = verdicts;
  for (const { token, atMs } of verdicts.gone) {
    const deadSince = Math.min(atMs ?? readAtMs, readAtMs);
    tx.sql<[token: string, deadSince: number]>(
      "DELETE FROM devices WHERE token = ? AND registered_ms <= ?",
    ).run(token, deadSince);
  }
  for (const token of verdicts.bad) {
    tx.sql<[number, string, number]>(
      "UPDATE devices SET set_aside_ms = ? WHERE token = ? AND registered_ms <= ?",
    ).run(readAtMs, token, readAtMs);
  }
}
