import type { Device } from "../../../people/device.ts";
import { MOST_DEVICES } from "../../../people/devices.ts";
import {
  type Audience,
  type Devices,
  type Handset,
  type Recipients,
  recipientsOf,
} from "../devices.ts";
import { batchAsker } from "./asker.ts";
import type { DatabaseTx } from "./connect.ts";
import { batchFaults } from "./database-faults.ts";
import { type PostgresDeps, seconds } from "./deps.ts";
import { storableText } from "./texts.ts";

/** The devices of tenant `a.tenant_id`, without those set aside. */
const HANDSETS: Record<Audience["through"], string> = {
  pairings: `SELECT p.box_account_id AS person, d.token, d.critical_alerts AS critical
    FROM pairings p
    JOIN memberships m ON m.tenant_id = p.tenant_id AND m.account_id = p.account_id
    JOIN devices d ON d.account_id = p.account_id
    WHERE p.tenant_id = a.tenant_id AND p.revoked_at IS NULL AND d.set_aside_at IS NULL`,
  memberships: `SELECT m.account_id AS person, d.token, d.critical_alerts AS critical
    FROM memberships m
    JOIN devices d ON d.account_id = m.account_id
    WHERE m.tenant_id = a.tenant_id AND d.set_aside_at IS NULL`,
};

export function postgresDevices(deps: PostgresDeps): Devices {
  const { database } = deps;
  const asked = {
    pairings: whoAsker(deps, "pairings"),
    memberships: whoAsker(deps, "memberships"),
  };
  return {
    list: (accountId) =>
      database.query<Device>(
        `SELECT token, platform, critical_alerts AS "criticalAlerts",
           ${seconds("created_at")} AS "createdAt", ${seconds("registered_at")} AS "lastSeenAt"
         FROM devices d WHERE account_id = $1 ORDER BY d.created_at, token`,
        [accountId],
      ),
    put: (device) => database.transaction((tx) => put(tx, device), { repeatable: true }),
    async remove(accountId, token) {
      const gone = await database.query(
        "DELETE FROM devices WHERE account_id = $1 AND token = $2 RETURNING 1",
        [accountId, token.toLowerCase()],
      );
      return gone.length > 0;
    },
    async recipients(audience) {
      const tenantId = storableText(audience.tenantId);
      const { atMs, handsets } = await asked[audience.through]({ tenantId });
      return { atMs, recipients: recipientsOf(handsets, audience.only) } satisfies Recipients;
    },
    async isRecipient({ tenantId, through, only }, token) {
      const handsets = await database.query<Handset>(
        `SELECT h.* FROM (SELECT $1::text AS tenant_id) AS a,
           LATERAL (${HANDSETS[through]} AND d.token = $2) AS h`,
        [tenantId, token],
      );
      return recipientsOf(handsets, only).length > 0;
    },
    async retire({ readAtMs, gone, bad }) {
      if (gone.length + bad.length === 0) return;
      await database.query(RETIRE, [
        gone.map(({ token }) => token),
        gone.map(({ atMs }) => Math.min(atMs ?? readAtMs, readAtMs)),
        [...bad],
        readAtMs,
      ]);
    },
  };
}

interface Who {
  tenantId: string;
}

interface Found {
  atMs: number;
  handsets: Handset[];
}

/** Reads the recipients of many pages at once, and each tenant's once. */
function whoAsker({ database }: PostgresDeps, through: Audience["through"]) {
  let last = 0;
  const sql = `SELECT a.tenant_id AS "tenantId", h.person, h.token, h.critical,
      floor(extract(epoch FROM now()) * 1000)::bigint AS "atMs"
    FROM unnest($1::text[]) AS a(tenant_id) LEFT JOIN LATERAL (${HANDSETS[through]}) AS h ON true`;
  return batchAsker<Who, Found>({
    // These questions only read, so none waits for another of the same tenant.
    key: () => String(last++),
    counted: (rows) => database.tally.batch("who", rows),
    async answer(asked) {
      const tenants = new Set(asked.map(({ tenantId }) => tenantId));
      const found = new Map<string, Found>();
      const rows = await database.query<
        { tenantId: string; atMs: number } & (Handset | { token: null })
      >(sql, [[...tenants]]);
      for (const { tenantId, atMs, ...handset } of rows) {
        const at = found.get(tenantId) ?? { atMs, handsets: [] };
        if (handset.token !== null) at.handsets.push(handset);
        found.set(tenantId, at);
      }
      return asked.map(({ tenantId }) => found.get(tenantId) as Found);
    },
    ...batchFaults,
  });
}

/** Locks the account's row, so that concurrent registrations count each other. */
async function put(
  tx: DatabaseTx,
  device: Parameters<Devices["put"]>[0],
): Promise<"registered" | "too_many"> {
  const token = device.token.toLowerCase();
  const { accountId, platform, criticalAlerts } = device;
  await tx.query("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
  const [others] = await tx.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM devices WHERE account_id = $1 AND token <> $2",
    [accountId, token],
  );
  if ((others?.count ?? 0) >= MOST_DEVICES) return "too_many";
  await tx.query(
    `INSERT INTO devices (account_id, token, platform, critical_alerts, created_at, registered_at)
     VALUES ($1, $2, $3, $4, now(), now())
     ON CONFLICT (account_id, token) DO UPDATE SET platform = excluded.platform,
       critical_alerts = excluded.critical_alerts, registered_at = now(), set_aside_at = NULL`,
    [accountId, token, platform, criticalAlerts],
  );
  return "registered";
}

/** Locks the rows first, in one order: two pages can name the same devices in different orders. */
const RETIRE = `WITH locked AS (
    SELECT account_id, token FROM devices WHERE token = ANY($1::text[] || $3::text[])
    ORDER BY account_id, token FOR UPDATE),
  gone AS (
    DELETE FROM devices d USING locked l, unnest($1::text[], $2::float8[]) AS g(token, dead_ms)
    WHERE d.account_id = l.account_id AND d.token = l.token AND l.token = g.token
      AND d.registered_at <= to_timestamp(g.dead_ms / 1000) RETURNING 1)
  UPDATE devices d SET set_aside_at = to_timestamp($4::float8 / 1000) FROM locked l
  WHERE d.account_id = l.account_id AND d.token = l.token AND l.token = ANY($3::text[])
    AND d.registered_at <= to_timestamp($4::float8 / 1000)`;
