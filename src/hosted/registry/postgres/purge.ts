import { CLAIM_SECONDS, HOLD_SECONDS } from "../claims.ts";
import { MOST_OUTAGES } from "../uptime.ts";
import type { PostgresDeps } from "./deps.ts";

const SLICE = 500;
const WITHIN_MS = 30_000;

const LONG_AGO = `<= now() - interval '${CLAIM_SECONDS} s'`;
/** Skips rows that another node has locked. Keeps a claim that was tried lately, however old its page is. */
const CLAIMS = `DELETE FROM relay_claims WHERE id IN (
  SELECT id FROM relay_claims WHERE created_at ${LONG_AGO}
    AND coalesce(done_at, held_until - interval '${HOLD_SECONDS} s', created_at) ${LONG_AGO}
  ORDER BY created_at LIMIT ${SLICE} FOR UPDATE SKIP LOCKED) RETURNING 1`;

const OUTAGES = `DELETE FROM outages WHERE began_at IN (
  SELECT began_at FROM outages ORDER BY began_at DESC OFFSET ${MOST_OUTAGES} LIMIT ${SLICE}
  FOR UPDATE SKIP LOCKED) RETURNING 1`;

/** Nodes that are gone for a day. */
const NODES = `DELETE FROM nodes WHERE id IN (
  SELECT id FROM nodes WHERE alive_until < now() - interval '1 day' FOR UPDATE SKIP LOCKED) RETURNING 1`;

/** `sessions`: deletes a slice of sessions. */
export function postgresPurge(
  { database }: PostgresDeps,
  sessions: () => Promise<number>,
): () => Promise<number> {
  const gone = async (sql: string) =>
    (await database.query(sql, [], { withinMs: WITHIN_MS })).length;
  return async () => {
    const rows = [await gone(CLAIMS), await sessions(), await gone(OUTAGES), await gone(NODES)];
    return rows.reduce((sum, of) => sum + of, 0);
  };
}
