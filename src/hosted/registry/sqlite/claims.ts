import { hexId } from "../../../kit/ids.ts";
import type { Tx } from "../../../store/store.ts";
import {
  CLAIM_SECONDS,
  type Claim,
  type ClaimKey,
  type Claims,
  type ClaimTaken,
} from "../claims.ts";
import type { Room } from "./room.ts";

/** Longer than any request may take: a claim held for longer is that of a process that is gone. */
const LEASE_MS = 30_000;
const PURGE_ROWS = 500;

interface ClaimRow {
  id: number;
  holder: string | null;
  taken_ms: number;
  devices: number;
  done_at: number | null;
}

export function claimsIn(room: Room): Claims {
  return {
    take: (key) => room.write((tx) => take(tx, key)),
    settle: (claim, result) => room.write((tx) => settle(tx, claim, result)),
    releaseAll: () =>
      room.write((tx) => {
        tx.sql<[]>("UPDATE relay_claims SET holder = NULL WHERE holder IS NOT NULL").run();
      }),
  };
}

function take(tx: Tx, key: ClaimKey): ClaimTaken {
  const row = tx
    .sql<[tenantId: string, alertId: string, event: string, timestamp: number], ClaimRow>(
      `SELECT id, holder, taken_ms, devices, done_at FROM relay_claims
       WHERE tenant_id = ? AND alert_id = ? AND event = ? AND timestamp = ?`,
    )
    .get(key.tenantId, key.alertId, key.event, key.timestamp);
  if (row !== undefined && row.done_at !== null) return { kind: "done", devices: row.devices };
  const now = tx.clock.now();
  if (row !== undefined && isHeld(row, now)) return { kind: "in_flight" };
  const holder = hexId(tx.random);
  if (row === undefined) return { kind: "taken", claim: insert(tx, key, holder), reached: [] };
  tx.sql<[holder: string, now: number, id: number]>(
    "UPDATE relay_claims SET holder = ?, taken_ms = ? WHERE id = ?",
  ).run(holder, now, row.id);
  const reached = tx
    .sql<[id: number], string>("SELECT token FROM relay_pushes WHERE claim_id = ?")
    .pluck()
    .all(row.id);
  return { kind: "taken", claim: { id: row.id, holder }, reached };
}

/** A hold from the future is one from before the clock was set back. */
function isHeld(row: ClaimRow, now: number): boolean {
  return row.holder !== null && row.taken_ms <= now && now < row.taken_ms + LEASE_MS;
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
  // A hold that ran out and was taken over is not ended, but who was reached counts all the same.
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

/** Forgets claims of two days ago, a slice at a time. */
export function purgeClaims(tx: Tx): number {
  return tx
    .sql<[number]>(
      `DELETE FROM relay_claims WHERE id IN
         (SELECT id FROM relay_claims WHERE created_at <= ? ORDER BY created_at LIMIT ${PURGE_ROWS})`,
    )
    .run(tx.at - CLAIM_SECONDS).changes;
}
