import { hexId } from "../../../ground/kit/ids.ts";
import type { Tx } from "../../../ground/store/store.ts";
import {
  CLAIM_SECONDS,
  type Claim,
  type ClaimKey,
  type Claims,
  type ClaimTaken,
  HOLD_SECONDS,
} from "../claims.ts";
import type { SqliteDeps } from "./deps.ts";
import { isLiveKey } from "./live-key.ts";

const PURGE_ROWS = 500;

interface ClaimRow {
  id: number;
  holder: string | null;
  devices: number;
  done_at: number | null;
}

/**
 * The holds of this process, by holder, in the order in which they end, by the monotonic clock: setting the wall clock
 * must not end them. One process serves a file, so any other hold belongs to a process that is gone.
 */
type Holds = Map<string, { tenantId: string; until: number }>;

export function sqliteClaims(deps: SqliteDeps): Claims {
  const { clock, random } = deps.store;
  const holds: Holds = new Map();
  const forgetEnded = () => {
    for (const [holder, { until }] of holds) {
      if (until > clock.mono()) break;
      holds.delete(holder);
    }
  };
  return {
    async take(key, { relayKeyId }) {
      const holder = hexId(random);
      try {
        return await deps.write((tx) => {
          forgetEnded();
          return take(tx, { key, relayKeyId, holder, holds });
        });
      } catch (error) {
        holds.delete(holder);
        throw error;
      }
    },
    async settle(claim, result) {
      await deps.write((tx) => settle(tx, claim, result));
      holds.delete(claim.holder);
    },
    async holders(tenantId) {
      forgetEnded();
      return [...holds].flatMap(([holder, hold]) => (hold.tenantId === tenantId ? [holder] : []));
    },
    releaseMine: () =>
      deps.write((tx) => {
        tx.sql<[]>("UPDATE relay_claims SET holder = NULL WHERE holder IS NOT NULL").run();
      }),
  };
}

interface Asked {
  key: ClaimKey;
  relayKeyId: string | null;
  holder: string;
  holds: Holds;
}

function take(tx: Tx, { key, relayKeyId, holder, holds }: Asked): ClaimTaken {
  const { tenantId } = key;
  if (relayKeyId !== null && !isLiveKey(tx, { relayKeyId, tenantId })) return { kind: "revoked" };
  const row = tx
    .sql<[tenantId: string, alertId: string, event: string, timestamp: number], ClaimRow>(
      `SELECT id, holder, devices, done_at FROM relay_claims
       WHERE tenant_id = ? AND alert_id = ? AND event = ? AND timestamp = ?`,
    )
    .get(tenantId, key.alertId, key.event, key.timestamp);
  if (row !== undefined && row.done_at !== null) return { kind: "done", devices: row.devices };
  if (row !== undefined && row.holder !== null && holds.has(row.holder))
    return { kind: "in_flight" };
  holds.set(holder, { tenantId, until: tx.clock.mono() + HOLD_SECONDS * 1000 });
  if (row === undefined) return { kind: "taken", claim: insert(tx, key, holder), reached: [] };
  tx.sql<[holder: string, now: number, id: number]>(
    "UPDATE relay_claims SET holder = ?, taken_ms = ? WHERE id = ?",
  ).run(holder, tx.clock.now(), row.id);
  const reached = tx
    .sql<[id: number], string>("SELECT token FROM relay_pushes WHERE claim_id = ?")
    .pluck()
    .all(row.id);
  return { kind: "taken", claim: { id: row.id, holder }, reached };
}

function insert(tx: Tx, key: ClaimKey, holder: string): Claim {
  const { lastInsertRowid } = tx
    .sql<[string, string, string, number, string, number, number]>(
      `INSERT INTO relay_claims (tenant_id, alert_id, event, timestamp, holder, taken_ms, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(key.tenantId, key.alertId, key.event, key.timestamp, holder, tx.clock.now(), tx.at);
  return { id: Number(lastInsertRowid), holder };
}

function settle(
  tx: Tx,
  claim: Claim,
  result: { reached: readonly string[]; done: boolean; devices: number },
): void {
  // An expired hold that another request took isn't ended, but the reached devices count.
  for (const token of result.reached) {
    tx.sql<[token: string, id: number]>(
      `INSERT OR IGNORE INTO relay_pushes (claim_id, token)
       SELECT id, ? FROM relay_claims WHERE id = ?`,
    ).run(token, claim.id);
  }
  tx.sql<[number, number | null, number, string]>(
    "UPDATE relay_claims SET holder = NULL, devices = ?, done_at = ? WHERE id = ? AND holder = ?",
  ).run(result.devices, result.done ? tx.at : null, claim.id, claim.holder);
}

/**
 * Deletes claims that are two days old, a slice at a time. Keeps claims that were tried lately, however old the page
 * is, and those with a hold, whatever the clock says.
 */
export function purgeClaims(tx: Tx): number {
  return tx
    .sql<{ longAgo: number }>(
      `DELETE FROM relay_claims WHERE id IN
         (SELECT id FROM relay_claims WHERE created_at <= @longAgo AND holder IS NULL
            AND max(taken_ms / 1000, coalesce(done_at, 0)) <= @longAgo
          ORDER BY created_at LIMIT ${PURGE_ROWS})`,
    )
    .run({ longAgo: tx.at - CLAIM_SECONDS }).changes;
}
