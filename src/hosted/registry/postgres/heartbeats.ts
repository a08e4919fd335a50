import { type HeartbeatSurvey, judgeSurvey, UNHEARD_SECONDS } from "../../silence.ts";
import {
  type BoxSign,
  type HeardBox,
  type HeartbeatLook,
  type Heartbeats,
  type OwedPage,
  TWIN_SECONDS,
  TWIN_SWAPS,
} from "../heartbeats.ts";
import { batchAsker } from "./asker.ts";
import type { DatabaseTx } from "./connect.ts";
import { batchFaults } from "./database-faults.ts";
import { type PostgresDeps, seconds } from "./deps.ts";

const MOST_BEATS = 500;
/** Nobody waits for a heartbeat's answer, so it can wait for others. */
const COMPANY_MS = 20;
const LOOK_MS = 60_000;
/** A look that waited for another one has an earlier time than that: this is no clock that was set back. */
const WAITED_SECONDS = 60;

type Sign = BoxSign & { planned: boolean };

export function postgresHeartbeats(deps: PostgresDeps): Heartbeats {
  const { database, clock } = deps;
  const hear = batchAsker<Sign, HeardBox>({
    key: ({ tenantId }) => tenantId,
    answer: (signs) => hearAll(deps, signs),
    counted: (rows) => database.tally.batch("beat", rows),
    ...batchFaults,
    most: MOST_BEATS,
    company: { clock, ms: COMPANY_MS },
  });
  return {
    beat: (sign) => hear({ ...sign, planned: false }),
    goodbye: (sign) => hear({ ...sign, planned: true }),
    look: (gapSeconds) =>
      // A repeated look does no harm: boxes that it found silent are already stored so.
      database.transaction((tx) => look(tx, gapSeconds), { withinMs: LOOK_MS, repeatable: true }),
    owed: (limit) =>
      database.query<OwedPage>(
        `SELECT o.tenant_id AS "tenantId", t.box_url AS "boxUrl", o.news,
           ${seconds("o.at")} AS at, ${seconds("o.heard_at")} AS "heardAt"
         FROM (SELECT tenant_id, owed AS news, owed_at AS at, heard_at FROM heartbeats WHERE owed IS NOT NULL
           UNION ALL SELECT tenant_id, 'twin', twin_owed_at, heard_at FROM heartbeats WHERE twin_owed_at IS NOT NULL) o
         JOIN tenants t ON t.id = o.tenant_id
         WHERE o.news = 'twin' OR t.watch_seconds > 0 ORDER BY o.at, o.tenant_id, o.news LIMIT $1`,
        [limit],
      ),
    async paid({ tenantId, news, at }) {
      const isTwin = news === "twin";
      await database.query(
        isTwin
          ? `UPDATE heartbeats SET twin_owed_at = NULL
             WHERE tenant_id = $1 AND ${seconds("twin_owed_at")} = $2`
          : `UPDATE heartbeats SET owed = NULL, owed_at = NULL
             WHERE tenant_id = $1 AND ${seconds("owed_at")} = $2 AND owed = $3`,
        isTwin ? [tenantId, at] : [tenantId, at, news],
      );
    },
  };
}

const IS_OTHER = "excluded.boot <> h.boot";
const IS_SWAP = `(${IS_OTHER} AND excluded.boot = h.former_boot)`;
const IS_LATE = `coalesce(h.swapped_at < now() - interval '${TWIN_SECONDS} s', true)`;

/** A restarted box has a new id. The former id comes back only where both boxes run. */
const TURNS = `boot = coalesce(excluded.boot, h.boot),
    former_boot = CASE WHEN ${IS_OTHER} THEN h.boot ELSE h.former_boot END,
    swaps = CASE WHEN ${IS_SWAP} THEN CASE WHEN ${IS_LATE} THEN 1 ELSE h.swaps + 1 END
      WHEN ${IS_OTHER} THEN 0 ELSE h.swaps END,
    swapped_at = CASE WHEN ${IS_SWAP} THEN now() ELSE h.swapped_at END,
    twin_owed_at = CASE WHEN ${IS_SWAP} AND NOT ${IS_LATE} AND h.swaps = ${TWIN_SWAPS - 1} THEN now() ELSE h.twin_owed_at END`;

const twins = (table: string) =>
  `(${table}.swaps >= ${TWIN_SWAPS} AND ${table}.swapped_at >= now() - interval '${TWIN_SECONDS} s')`;

/** An older report that arrives late shows that the box lives, but replaces nothing newer. */
const HEAR = `INSERT INTO heartbeats AS h (tenant_id, heard_at, stamp, planned, boot)
  SELECT a.tenant_id, now(), a.stamp, a.planned, a.boot
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::text[])
    WITH ORDINALITY AS a(tenant_id, key_id, stamp, planned, boot, n)
  JOIN relay_keys k ON k.id = a.key_id AND k.tenant_id = a.tenant_id AND k.revoked_at IS NULL
  ORDER BY a.n
  ON CONFLICT (tenant_id) DO UPDATE SET heard_at = greatest(h.heard_at, excluded.heard_at),
    planned = CASE WHEN excluded.stamp >= h.stamp THEN excluded.planned ELSE h.planned END,
    stamp = greatest(h.stamp, excluded.stamp),
    owed = CASE WHEN h.silent_since IS NULL THEN h.owed ELSE 'back' END,
    owed_at = CASE WHEN h.silent_since IS NULL THEN h.owed_at ELSE now() END,
    silent_since = NULL, ${TURNS}
  RETURNING h.tenant_id AS "tenantId", ${twins("h")} AS twin`;

async function hearAll({ database }: PostgresDeps, signs: readonly Sign[]): Promise<HeardBox[]> {
  const heard = await database.query<{ tenantId: string; twin: boolean | null }>(HEAR, [
    signs.map(({ tenantId }) => tenantId),
    signs.map(({ relayKeyId }) => relayKeyId),
    signs.map(({ stamp }) => stamp),
    signs.map(({ planned }) => planned),
    signs.map(({ boot }) => boot ?? null),
  ]);
  const known = new Map(heard.map(({ tenantId, twin }) => [tenantId, twin ? "twin" : "heard"]));
  return signs.map(({ tenantId }) => (known.get(tenantId) as HeardBox | undefined) ?? null);
}

/** Uses the database's clock. Locks the job's row, so that looks run one after the other. */
async function look(tx: DatabaseTx, gapSeconds: number): Promise<HeartbeatLook> {
  const [job] = await tx.query<{ at: number; before: number | null }>(
    `SELECT ${seconds("now()")} AS at, ${seconds("ran_at")} AS before
     FROM jobs WHERE name = 'silence' FOR UPDATE`,
  );
  if (job === undefined) throw new Error("the job of looking for silence is gone");
  const { at, before } = job;
  const moments = await momentsOf(tx);
  const heldSince = moments.get("silence_held_at") ?? null;
  const held = heldSince !== null;
  // While looks are held, only real heartbeats count.
  const from = held ? 0 : (moments.get("silence_counts_from") ?? 0);
  const away = before === null || at < before - WAITED_SECONDS || at - before > gapSeconds;
  const sight: HeartbeatSurvey = { ...(await heardOf(tx, from)), away, held };
  const verdict = judgeSurvey(sight);
  if (verdict === "count") await noteSilent(tx, from);
  if (verdict === "afresh") await startAfresh(tx, at);
  if (verdict === "hold" && !held) await setMoment(tx, "silence_held_at", at);
  await tx.query("UPDATE jobs SET ran_at = now() WHERE name = 'silence'");
  const { watched, unheard } = sight;
  const isHeld = verdict === "hold";
  const [two] = await tx.query<{ twins: number }>(
    `SELECT count(*) AS twins FROM heartbeats h WHERE ${twins("h")}`,
  );
  return {
    at,
    held: isHeld,
    heldSince: isHeld ? (heldSince ?? at) : null,
    watched,
    unheard,
    twins: two?.twins ?? 0,
  };
}

/** How long a box has been unheard: since its last heartbeat, or since silence counts ($1). */
const UNHEARD = "now() - greatest(h.heard_at, to_timestamp($1))";
const WATCHED = `h.silent_since IS NULL AND NOT h.planned AND t.id = h.tenant_id AND t.watch_seconds > 0`;

/** A time in the future was stored before the clock was set back, so it is ignored. */
async function heardOf(
  tx: DatabaseTx,
  from: number,
): Promise<Pick<HeartbeatSurvey, "watched" | "unheard">> {
  const [counts] = await tx.query<Pick<HeartbeatSurvey, "watched" | "unheard">>(
    `SELECT count(*) AS watched,
       count(*) FILTER (WHERE abs(extract(epoch FROM ${UNHEARD})) > ${UNHEARD_SECONDS}) AS unheard
     FROM heartbeats h, tenants t WHERE ${WATCHED}`,
    [from],
  );
  return counts ?? { watched: 0, unheard: 0 };
}

/** Locks the rows in the order of HEAR. A box that is heard meanwhile isn't silent, and no deadlock can arise. */
async function noteSilent(tx: DatabaseTx, from: number): Promise<void> {
  await tx.query(
    `WITH silent AS (
       SELECT h.tenant_id FROM heartbeats h, tenants t
       WHERE ${WATCHED} AND ${UNHEARD} > t.watch_seconds * interval '1 s'
       ORDER BY h.tenant_id FOR NO KEY UPDATE OF h)
     UPDATE heartbeats h SET silent_since = now(), owed = 'silent', owed_at = now()
     FROM silent s WHERE h.tenant_id = s.tenant_id`,
    [from],
  );
}

/** Keeps the time at which a box was heard, because its people are shown that time. */
async function startAfresh(tx: DatabaseTx, at: number): Promise<void> {
  await tx.query("DELETE FROM meta WHERE key = 'silence_held_at'");
  await tx.query(
    `WITH ahead AS (
       SELECT tenant_id FROM heartbeats WHERE heard_at > now() ORDER BY tenant_id FOR NO KEY UPDATE)
     UPDATE heartbeats h SET heard_at = now() FROM ahead a WHERE h.tenant_id = a.tenant_id`,
  );
  await setMoment(tx, "silence_counts_from", at);
}

/** `silence_counts_from`: silence before this time doesn't count. */
type Moment = "silence_counts_from" | "silence_held_at";

async function momentsOf(tx: DatabaseTx): Promise<Map<string, number>> {
  const rows = await tx.query<{ key: string; value: number }>(
    "SELECT key, value FROM meta WHERE key IN ('silence_counts_from', 'silence_held_at')",
  );
  return new Map(rows.map(({ key, value }) => [key, value]));
}

async function setMoment(tx: DatabaseTx, key: Moment, at: number): Promise<void> {
  await tx.query(
    "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2",
    [key, at],
  );
}
