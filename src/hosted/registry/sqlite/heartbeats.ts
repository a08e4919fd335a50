import type { Tx } from "../../../store/store.ts";
import { judgeLook, type Sight, UNHEARD_SECONDS } from "../../silence.ts";
import type { BoxSign, HeartbeatLook, Heartbeats, OwedPage } from "../heartbeats.ts";
import { isLiveKey } from "./live-key.ts";
import type { Room } from "./room.ts";

const BACK = `owed = CASE WHEN silent_since IS NULL THEN owed ELSE 'back' END,
  owed_at = CASE WHEN silent_since IS NULL THEN owed_at ELSE @now END, silent_since = NULL`;

export function heartbeatsIn(room: Room): Heartbeats {
  return {
    beat: (sign) => room.write((tx) => hear(tx, sign, { planned: 0 })),
    goodbye: (sign) => room.write((tx) => hear(tx, sign, { planned: 1 })),
    look: (gapSeconds) => room.write((tx) => look(tx, gapSeconds)),
    owed: async (limit) =>
      room.store
        .sql<[limit: number], OwedPage>(
          `SELECT h.tenant_id AS tenantId, t.box_url AS boxUrl, h.owed AS news, h.owed_at AS at,
             h.heard_at AS heardAt
           FROM heartbeats h JOIN tenants t ON t.id = h.tenant_id
           WHERE h.owed IS NOT NULL AND t.watch_seconds > 0 ORDER BY h.owed_at LIMIT ?`,
        )
        .all(limit),
    paid: (page) =>
      room.write((tx) => {
        tx.sql<[tenantId: string, news: string, at: number]>(
          `UPDATE heartbeats SET owed = NULL, owed_at = NULL
           WHERE tenant_id = ? AND owed = ? AND owed_at = ?`,
        ).run(page.tenantId, page.news, page.at);
      }),
  };
}

/** An older sign that arrives late tells of life, but takes back no later word. */
function hear(
  tx: Tx,
  { tenantId, stamp, relayKeyId }: BoxSign,
  { planned }: { planned: 0 | 1 },
): boolean {
  if (!isLiveKey(tx, { relayKeyId, tenantId })) return false;
  tx.sql<{ tenantId: string; stamp: number; planned: 0 | 1; now: number }>(
    `INSERT INTO heartbeats (tenant_id, heard_at, stamp, planned) VALUES (@tenantId, @now, @stamp, @planned)
     ON CONFLICT DO UPDATE SET heard_at = @now,
       planned = CASE WHEN @stamp >= stamp THEN @planned ELSE planned END, stamp = max(stamp, @stamp), ${BACK}`,
  ).run({ tenantId, stamp, planned, now: tx.at });
  return true;
}

function look(tx: Tx, gapSeconds: number): HeartbeatLook {
  const now = tx.at;
  const before = readMoment(tx, "watched_at");
  const heldSince = readMoment(tx, "silence_held_at");
  const held = heldSince !== null;
  // While looks are held only what was really heard counts.
  const from = held ? 0 : (readMoment(tx, "silence_counts_from") ?? 0);
  const away = before === null || now < before || now - before > gapSeconds;
  const sight: Sight = { ...heardOf(tx, now, from), away, held };
  const verdict = judgeLook(sight);
  if (verdict === "count") noteSilent(tx, now, from);
  if (verdict === "afresh") startAfresh(tx, now);
  if (verdict === "hold" && !held) setMoment(tx, "silence_held_at", now);
  setMoment(tx, "watched_at", now);
  const { watched, unheard } = sight;
  const isHeld = verdict === "hold";
  return { at: now, held: isHeld, heldSince: isHeld ? (heldSince ?? now) : null, watched, unheard };
}

/** A time ahead of the clock was noted before the clock was set back: it says nothing. */
function heardOf(tx: Tx, now: number, from: number): Pick<Sight, "watched" | "unheard"> {
  const counts = tx
    .sql<{ now: number; from: number }, Pick<Sight, "watched" | "unheard">>(
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

/** When a box was heard stays as it was, for that is what its people are told. */
function startAfresh(tx: Tx, now: number): void {
  tx.sql<[]>("DELETE FROM meta WHERE key = 'silence_held_at'").run();
  tx.sql<{ now: number }>("UPDATE heartbeats SET heard_at = @now WHERE heard_at > @now").run({
    now,
  });
  setMoment(tx, "silence_counts_from", now);
}

/** `watched_at`: the latest look. `silence_counts_from`: nobody is silent for longer than since then. */
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
