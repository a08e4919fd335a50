import { judgeLook, type Sight, UNHEARD_SECONDS } from "../../silence.ts";
import type { BoxSign, HeartbeatLook, Heartbeats, OwedPage } from "../heartbeats.ts";
import { batchAsker } from "./asker.ts";
import type { DatabaseTx } from "./connect.ts";
import { batchFaults } from "./database-faults.ts";
import { type DatabaseRoom, seconds } from "./room.ts";

const MOST_BEATS = 500;
/** Nobody waits for a heartbeat's answer. */
const COMPANY_MS = 20;
const LOOK_MS = 60_000;
/** A look that waited for another one began before that was noted: it is no clock that was set back. */
const WAITED_SECONDS = 60;

type Sign = BoxSign & { planned: boolean };

export function heartbeatsOn(room: DatabaseRoom): Heartbeats {
  const { database, clock } = room;
  const hear = batchAsker<Sign, boolean>({
    key: ({ tenantId }) => tenantId,
    answer: (signs) => hearAll(room, signs),
    counted: (rows) => database.tally.batch("beat", rows),
    ...batchFaults,
    most: MOST_BEATS,
    company: { clock, ms: COMPANY_MS },
  });
  return {
    beat: (sign) => hear({ ...sign, planned: false }),
    goodbye: (sign) => hear({ ...sign, planned: true }),
    look: (gapSeconds) =>
      // To look twice does no harm: what was found silent is so already.
      database.transaction((tx) => look(tx, gapSeconds), { withinMs: LOOK_MS, repeatable: true }),
    owed: (limit) =>
      database.query<OwedPage>(
        `SELECT h.tenant_id AS "tenantId", t.box_url AS "boxUrl", h.owed AS news,
           ${seconds("h.owed_at")} AS at, ${seconds("h.heard_at")} AS "heardAt"
         FROM heartbeats h JOIN tenants t ON t.id = h.tenant_id
         WHERE h.owed IS NOT NULL AND t.watch_seconds > 0 ORDER BY h.owed_at, h.tenant_id LIMIT $1`,
        [limit],
      ),
    async paid({ tenantId, news, at }) {
      await database.query(
        `UPDATE heartbeats SET owed = NULL, owed_at = NULL
         WHERE tenant_id = $1 AND owed = $2 AND ${seconds("owed_at")} = $3`,
        [tenantId, news, at],
      );
    },
  };
}

/** An older sign that arrives late, or waited at the database, tells of life, but takes back no later word. */
const HEAR = `INSERT INTO heartbeats AS h (tenant_id, heard_at, stamp, planned)
  SELECT a.tenant_id, now(), a.stamp, a.planned
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
    WITH ORDINALITY AS a(tenant_id, key_id, stamp, planned, n)
  JOIN relay_keys k ON k.id = a.key_id AND k.tenant_id = a.tenant_id AND k.revoked_at IS NULL
  ORDER BY a.n
  ON CONFLICT (tenant_id) DO UPDATE SET heard_at = greatest(h.heard_at, excluded.heard_at),
    planned = CASE WHEN excluded.stamp >= h.stamp THEN excluded.planned ELSE h.planned END,
    stamp = greatest(h.stamp, excluded.stamp),
    owed = CASE WHEN h.silent_since IS NULL THEN h.owed ELSE 'back' END,
    owed_at = CASE WHEN h.silent_since IS NULL THEN h.owed_at ELSE now() END,
    silent_since = NULL
  RETURNING h.tenant_id AS "tenantId"`;

async function hearAll({ database }: DatabaseRoom, signs: readonly Sign[]): Promise<boolean[]> {
  const heard = await database.query<{ tenantId: string }>(HEAR, [
    signs.map(({ tenantId }) => tenantId),
    signs.map(({ relayKeyId }) => relayKeyId),
    signs.map(({ stamp }) => stamp),
    signs.map(({ planned }) => planned),
  ]);
  const known = new Set(heard.map(({ tenantId }) => tenantId));
  return signs.map(({ tenantId }) => known.has(tenantId));
}

/** By the database's clock. The job's row is locked, so that looks are one after the other. */
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
  // While looks are held only what was really heard counts.
  const from = held ? 0 : (moments.get("silence_counts_from") ?? 0);
  const away = before === null || at < before - WAITED_SECONDS || at - before > gapSeconds;
  const sight: Sight = { ...(await heardOf(tx, from)), away, held };
  const verdict = judgeLook(sight);
  if (verdict === "count") await noteSilent(tx, from);
  if (verdict === "afresh") await startAfresh(tx, at);
  if (verdict === "hold" && !held) await setMoment(tx, "silence_held_at", at);
  await tx.query("UPDATE jobs SET ran_at = now() WHERE name = 'silence'");
  const { watched, unheard } = sight;
  const isHeld = verdict === "hold";
  return { at, held: isHeld, heldSince: isHeld ? (heldSince ?? at) : null, watched, unheard };
}

/** For how long a box has been unheard: since it was heard, or since silence counts ($1). */
const UNHEARD = "now() - greatest(h.heard_at, to_timestamp($1))";
const WATCHED = `h.silent_since IS NULL AND NOT h.planned AND t.id = h.tenant_id AND t.watch_seconds > 0`;

/** A time ahead of the clock was noted before the clock was set back: it says nothing. */
async function heardOf(tx: DatabaseTx, from: number): Promise<Pick<Sight, "watched" | "unheard">> {
  const [counts] = await tx.query<Pick<Sight, "watched" | "unheard">>(
    `SELECT count(*) AS watched,
       count(*) FILTER (WHERE abs(extract(epoch FROM ${UNHEARD})) > ${UNHEARD_SECONDS}) AS unheard
     FROM heartbeats h, tenants t WHERE ${WATCHED}`,
    [from],
  );
  return counts ?? { watched: 0, unheard: 0 };
}

/** The rows are locked in the order of HEAR: who is heard meanwhile isn't silent, and waits for nobody who waits for them. */
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

/** When a box was heard stays as it was, for that is what its people are told. */
async function startAfresh(tx: DatabaseTx, at: number): Promise<void> {
  await tx.query("DELETE FROM meta WHERE key = 'silence_held_at'");
  await tx.query(
    `WITH ahead AS (
       SELECT tenant_id FROM heartbeats WHERE heard_at > now() ORDER BY tenant_id FOR NO KEY UPDATE)
     UPDATE heartbeats h SET heard_at = now() FROM ahead a WHERE h.tenant_id = a.tenant_id`,
  );
  await setMoment(tx, "silence_counts_from", at);
}

/** `silence_counts_from`: nobody is silent for longer than since then. */
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
