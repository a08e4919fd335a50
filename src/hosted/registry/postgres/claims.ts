import { hexId } from "../../../ground/kit/ids.ts";
import {
  type Claim,
  type ClaimKey,
  type Claims,
  type ClaimTaken,
  HOLD_SECONDS,
} from "../claims.ts";
import { batchAsker } from "./asker.ts";
import { batchFaults } from "./database-faults.ts";
import { hasRunOut, type PostgresDeps } from "./deps.ts";
import { storableText } from "./texts.ts";

interface Asked {
  key: ClaimKey;
  relayKeyId: string | null;
  /** Unique to this request: repeated after a lost answer, the request gets its own hold. */
  holder: string;
}

interface Settled {
  claim: Claim;
  reached: readonly string[];
  done: boolean;
  devices: number;
}

/** Pages are claimed and settled in batches (asker.ts), each by one statement that locks its rows in one order. */
export function postgresClaims(deps: PostgresDeps): Claims {
  const { database, random, node } = deps;
  /** The row ids of the claims that are held here; they are settled in this order. */
  const rows = new WeakMap<Claim, string>();
  const take = batchAsker<Asked, ClaimTaken>({
    key: ({ key }) => rowOf(key),
    answer: (asked) => takeAll(deps, asked),
    counted: (rows) => database.tally.batch("take", rows),
    ...batchFaults,
  });
  const settle = batchAsker<Settled, void>({
    key: ({ claim }) => rows.get(claim) ?? String(claim.id),
    answer: (all) => settleAll(deps, all),
    counted: (rows) => database.tally.batch("settle", rows),
    ...batchFaults,
  });
  return {
    async take(given, { relayKeyId }) {
      const key = storable(given);
      const taken = await take({ key, relayKeyId, holder: `${node}/${hexId(random)}` });
      if (taken.kind === "taken") rows.set(taken.claim, rowOf(key));
      return taken;
    },
    settle: (claim, result) => settle({ claim, ...result }),
    async holders(tenantId) {
      const held = await database.query<{ holder: string }>(
        `SELECT holder FROM relay_claims
         WHERE tenant_id = $1 AND holder IS NOT NULL AND NOT ${hasRunOut("held_until", HOLD_SECONDS)}`,
        [tenantId],
      );
      return held.map(({ holder }) => holder);
    },
    async releaseMine() {
      const limits = { withinMs: 60_000 };
      const held = await database.query<ClaimKey & { id: number }>(MINE, [node], limits);
      const ids = held.toSorted((a, b) => (rowOf(a) < rowOf(b) ? -1 : 1)).map(({ id }) => id);
      if (ids.length > 0) await database.query(RELEASE, [node, ids], limits);
    },
  };
}

const IS_MINE = `held_until > now() AND left(holder, length($1) + 1) = $1 || '/'`;
const MINE = `SELECT id, tenant_id AS "tenantId", alert_id AS "alertId", event, timestamp FROM relay_claims WHERE ${IS_MINE}`;
/** Locks the rows in the order of TAKE, which other nodes use. */
const RELEASE = `WITH locked AS (
    SELECT c.id FROM relay_claims c JOIN unnest($2::bigint[]) WITH ORDINALITY AS m(id, n) ON m.id = c.id
    WHERE ${IS_MINE} ORDER BY m.n FOR NO KEY UPDATE OF c)
  UPDATE relay_claims c SET holder = NULL FROM locked l WHERE c.id = l.id`;

const rowOf = ({ tenantId, alertId, event, timestamp }: ClaimKey): string =>
  JSON.stringify([tenantId, alertId, event, timestamp]);

function storable(key: ClaimKey): ClaimKey {
  return { ...key, alertId: storableText(key.alertId), event: storableText(key.event) };
}

/**
 * Locks the key's row, so that a revocation waits for this statement and then sees its holds. If the key is being
 * revoked right now, this doesn't wait: the page is in flight and is asked for again.
 */
const TAKE = `WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
      WITH ORDINALITY AS a(tenant_id, alert_id, event, timestamp, holder, key_id, n)),
  live AS (
    SELECT id, tenant_id FROM relay_keys WHERE id = ANY($6) AND revoked_at IS NULL
    ORDER BY id FOR SHARE SKIP LOCKED)
  INSERT INTO relay_claims AS c (tenant_id, alert_id, event, timestamp, holder, held_until, created_at)
  SELECT a.tenant_id, a.alert_id, a.event, a.timestamp, a.holder, now() + interval '${HOLD_SECONDS} s', now()
  FROM asked a LEFT JOIN live k ON k.id = a.key_id AND k.tenant_id = a.tenant_id
  WHERE a.key_id IS NULL OR k.id IS NOT NULL
  ORDER BY a.n
  ON CONFLICT (tenant_id, alert_id, event, timestamp) DO UPDATE
    SET holder = excluded.holder, held_until = excluded.held_until
    WHERE c.done_at IS NULL
      AND (c.holder IS NULL OR ${hasRunOut("c.held_until", HOLD_SECONDS)} OR c.holder = excluded.holder)
  RETURNING c.id, c.holder, c.reached`;

/** Why the others weren't claimed. */
const REST = `SELECT c.done_at IS NOT NULL AS done, c.devices,
    a.key_id IS NULL OR EXISTS (SELECT 1 FROM relay_keys k
      WHERE k.id = a.key_id AND k.tenant_id = a.tenant_id AND k.revoked_at IS NULL) AS live
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
    WITH ORDINALITY AS a(tenant_id, alert_id, event, timestamp, key_id, n)
  LEFT JOIN relay_claims c ON c.tenant_id = a.tenant_id AND c.alert_id = a.alert_id
    AND c.event = a.event AND c.timestamp = a.timestamp
  ORDER BY a.n`;

const columnsOf = (asked: readonly Asked[]) => [
  asked.map(({ key }) => key.tenantId),
  asked.map(({ key }) => key.alertId),
  asked.map(({ key }) => key.event),
  asked.map(({ key }) => key.timestamp),
];

async function takeAll(deps: PostgresDeps, asked: readonly Asked[]): Promise<ClaimTaken[]> {
  const keyIds = asked.map(({ relayKeyId }) => relayKeyId);
  const held = await deps.database.query<{ id: number; holder: string; reached: string[] }>(TAKE, [
    ...columnsOf(asked),
    asked.map(({ holder }) => holder),
    keyIds,
  ]);
  const taken = new Map<string, ClaimTaken>(
    held.map(({ id, holder, reached }) => [
      holder,
      { kind: "taken", claim: { id, holder }, reached },
    ]),
  );
  const left = asked.filter(({ holder }) => !taken.has(holder));
  for (const [at, one] of (await restOf(deps, left)).entries())
    taken.set((left[at] as Asked).holder, one);
  return asked.map(({ holder }) => taken.get(holder) as ClaimTaken);
}

async function restOf({ database }: PostgresDeps, left: readonly Asked[]): Promise<ClaimTaken[]> {
  if (left.length === 0) return [];
  const rows = await database.query<{ done: boolean; devices: number | null; live: boolean }>(
    REST,
    [...columnsOf(left), left.map(({ relayKeyId }) => relayKeyId)],
  );
  return rows.map(({ done, devices, live }): ClaimTaken => {
    if (!live) return { kind: "revoked" };
    return done ? { kind: "done", devices: devices ?? 0 } : { kind: "in_flight" };
  });
}

/**
 * Reached devices count from every caller; only the holder ends the hold or the page. Repeating it changes nothing.
 * Locks the rows first, in the order of TAKE.
 */
const SETTLE = `WITH s AS (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[], $5::int[])
      WITH ORDINALITY AS s(id, holder, reached, done, devices, n)),
  locked AS (
    SELECT c.id FROM relay_claims c JOIN s ON s.id = c.id ORDER BY s.n FOR NO KEY UPDATE OF c)
  UPDATE relay_claims c SET
    reached = CASE WHEN s.reached = '' THEN c.reached ELSE
      (SELECT array_agg(DISTINCT t) FROM unnest(c.reached || string_to_array(s.reached, E'\\n')) t) END,
    devices = CASE WHEN c.holder = s.holder THEN s.devices ELSE c.devices END,
    done_at = CASE WHEN c.holder = s.holder AND s.done THEN now() ELSE c.done_at END,
    holder = CASE WHEN c.holder = s.holder THEN NULL ELSE c.holder END
  FROM locked l JOIN s ON s.id = l.id
  WHERE c.id = l.id`;

async function settleAll(
  { database }: PostgresDeps,
  all: readonly Settled[],
): Promise<undefined[]> {
  await database.query(SETTLE, [
    all.map(({ claim }) => claim.id),
    all.map(({ claim }) => claim.holder),
    all.map(({ reached }) => reached.join("\n")),
    all.map(({ done }) => done),
    all.map(({ devices }) => devices),
  ]);
  return all.map(() => undefined);
}
