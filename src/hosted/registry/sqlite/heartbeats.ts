import type { Tx } from "../../../ground/store/store.ts";
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
import type { SqliteDeps } from "./deps.ts";
import { isLiveKey } from "./live-key.ts";

const BACK = `owed = CASE WHEN silent_since IS NULL THEN owed ELSE 'back' END,
  owed_at = CASE WHEN silent_since IS NULL THEN owed_at ELSE @now END, silent_since = NULL`;

export function sqliteHeartbeats(deps: SqliteDeps): Heartbeats {
  return {
    beat: (sign) => deps.write((tx) => hear(tx, sign, { planned: 0 })),
    goodbye: (sign) => deps.write((tx) => hear(tx, sign, { planned: 1 })),
    look: (gapSeconds) => deps.write((tx) => look(tx, gapSeconds)),
    owed: async (limit) =>
      deps.store
        .sql<[limit: number], OwedPage>(
          `SELECT o.tenant_id AS tenantId, t.box_url AS boxUrl, o.news, o.at, o.heard_at AS heardAt
           FROM (SELECT tenant_id, owed AS news, owed_at AS at, heard_at FROM heartbeats WHERE owed IS NOT NULL
             UNION ALL SELECT tenant_id, 'twin', twin_owed_at, heard_at FROM heartbeats WHERE twin_owed_at IS NOT NULL) o
           JOIN tenants t ON t.id = o.tenant_id
           WHERE o.news = 'twin' OR t.watch_seconds > 0 ORDER BY o.at LIMIT ?`,
        )
        .all(limit),
    paid: (page) =>
      deps.write((tx) => {
        const { tenantId, news, at } = page;
        tx.sql<{ tenantId: string; at: number; news: string }>(
          news === "twin"
            ? "UPDATE heartbeats SET twin_owed_at = NULL WHERE tenant_id = @tenantId AND twin_owed_at = @at"
            : `UPDATE heartbeats SET owed = NULL, owed_at = NULL
               WHERE tenant_id = @tenantId AND owed = @news AND owed_at = @at`,
        ).run({ tenantId, news, at });
      }),
  };
}

const IS_OTHER = "excluded.boot <> boot";
const IS_SWAP = `(${IS_OTHER} AND excluded.boot = former_boot)`;
const IS_LATE = `coalesce(swapped_at < @now - ${TWIN_SECONDS}, 1)`;

/** A restarted box has a new id. The former id comes back only where both boxes run. */
const TURNS = `boot = coalesce(excluded.boot, boot),
  former_boot = CASE WHEN ${IS_OTHER} THEN boot ELSE former_boot END,
  swaps = CASE WHEN ${IS_SWAP} THEN CASE WHEN ${IS_LATE} THEN 1 ELSE swaps + 1 END
    WHEN ${IS_OTHER} THEN 0 ELSE swaps END,
  swapped_at = CASE WHEN ${IS_SWAP} THEN @now ELSE swapped_at END,
  twin_owed_at = CASE WHEN ${IS_SWAP} AND NOT ${IS_LATE} AND swaps = ${TWIN_SWAPS - 1} THEN @now ELSE twin_owed_at END`;

const TWINS = `(swaps >= ${TWIN_SWAPS} AND swapped_at >= @now - ${TWIN_SECONDS})`;

/** An older report that arrives late shows that the box lives, but replaces nothing newer. */
function hear(
  tx: Tx,
  { tenantId, stamp, relayKeyId, boot = null }: Omit<BoxSign, "boot"> & { boot?: string | null },
  { planned }: { planned: 0 | 1 },
): HeardBox {
  if (!isLiveKey(tx, { relayKeyId, tenantId })) return null;
  const isTwin = tx
    .sql<
      { tenantId: string; stamp: number; planned: 0 | 1; boot: string | null; now: number },
      number | null
    >(
      `INSERT INTO heartbeats (tenant_id, heard_at, stamp, planned, boot) VALUES (@tenantId, @now, @stamp, @planned, @boot)
     ON CONFLICT DO UPDATE SET heard_at = @now,
       planned = CASE WHEN @stamp >= stamp THEN @planned ELSE planned END, stamp = max(stamp, @stamp), ${BACK}, ${TURNS}
     RETURNING ${TWINS}`,
    )
    .pluck()
    .get({ tenantId, stamp, planned, boot, now: tx.at });
  return isTwin === 1 ? "twin" : "heard";
}

function look(tx: Tx, gapSeconds: number): HeartbeatLook {
  const now = tx.at;
  const before = readMoment(tx, "watched_at");
  const heldSince = readMoment(tx, "silence_held_at");
  const held = heldSince !== null;
  // While looks are held, only real heartbeats count.
  const from = held ? 0 : (readMoment(tx, "silence_counts_from") ?? 0);
  const away = before === null || now < before || now - before > gapSeconds;
  const sight: HeartbeatSurvey = { ...heardOf(tx, now, from), away, held };
  const verdict = judgeSurvey(sight);
  if (verdict === "count") noteSilent(tx, now, from);
  if (verdict === "afresh") startAfresh(tx, now);
  if (verdict === "hold" && !held) setMoment(tx, "silence_held_at", now);
  setMoment(tx, "watched_at", now);
  const { watched, unheard } = sight;
  const isHeld = verdict === "hold";
  const twins = tx
    .sql<{ now: number }, number>(`SELECT count(*) FROM heartbeats WHERE ${TWINS}`)
    .pluck()
    .get({ now });
  return {
    at: now,
    held: isHeld,
    heldSince: isHeld ? (heldSince ?? now) : null,
    watched,
    unheard,
    twins: twins ?? 0,
  };
}

/** A time in the future was stored before the clock was set back, so it is ignored. */
function heardOf(tx: Tx, now: number, from: number): Pick<HeartbeatSurvey, "watched" | "unheard"> {
  const counts = tx
    .sql<{ now: number; from: number }, Pick<HeartbeatSurvey, "watched" | "unheard">>(
      `SELECT count(*) AS watched,
         count(*) FILTER (WHERE abs(@now - max(heard_at, @from)) > ${UNHEARD_SECONDS}) AS unheard
       FROM heartbeats JOIN tenants t ON t.id = tenant_id
       WHERE silent_since IS NULL AND planned = 0 AND t.watch_seconds > 0`,
    )
    .get({ now, from });
  return counts ?? { watched: 0, unheard: 0 };
}

function noteSilent(tx: Tx, now: number, from: number): void {
  tx.sql<{ now: number; from: number }>(
    `UPDATE heartbeats SET silent_since = @now, owed = 'silent', owed_at = @now
     WHERE silent_since IS NULL AND planned = 0 AND EXISTS
       (SELECT 1 FROM tenants t WHERE t.id = tenant_id
        AND t.watch_seconds > 0 AND @now - max(heard_at, @from) > t.watch_seconds)`,
  ).run({ now, from });
}

/** Keeps the time at which a box was heard, because its people are shown that time. */
function startAfresh(tx: Tx, now: number): void {
  tx.sql<[]>("DELETE FROM meta WHERE key = 'silence_held_at'").run();
  tx.sql<{ now: number }>("UPDATE heartbeats SET heard_at = @now WHERE heard_at > @now").run({
    now,
  });
  setMoment(tx, "silence_counts_from", now);
}

/** `watched_at`: the latest look. `silence_counts_from`: silence before this time doesn't count. */
type Moment = "watched_at" | "silence_counts_from" | "silence_held_at";

function readMoment(tx: Tx, key: Moment): number | null {
  const value = tx
    .sql<[key: Moment], unknown>("SELECT value FROM meta WHERE key = ?")
    .pluck()
    .get(key);
  return typeof value === "number" ? value : null;
}

function setMoment(tx: Tx, key: Moment, at: number): void {
  tx.sql<{ key: Moment; at: number }>(
    "INSERT INTO meta (key, value) VALUES (@key, @at) ON CONFLICT DO UPDATE SET value = @at",
  ).run({ key, at });
}
