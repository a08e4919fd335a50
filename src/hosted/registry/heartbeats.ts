import type { Tx } from "../../store/store.ts";
import type { Room } from "./room.ts";

/** A page that a box's people are owed. */
export interface OwedPage {
  tenantId: string;
  boxUrl: string | null;
  news: "silent" | "back";
  /** When it became owed, in seconds: tells this page from an earlier one. */
  at: number;
  /** When the box was last heard. */
  heardAt: number;
}

export interface Heartbeats {
  /** A box says that it lives, in an event of time `stamp` (seconds). */
  beat(sign: { tenantId: string; stamp: number }): Promise<void>;
  /** A box stops as planned: it isn't missed until its next heartbeat. */
  goodbye(sign: { tenantId: string; stamp: number }): Promise<void>;
  /**
   * Looks for boxes that have been silent for longer than their tenant allows, and notes that their
   * people are owed a page. Silence counts only while somebody looked: after `gapSeconds` without a
   * look, or a clock set back, every box starts afresh.
   */
  look(now: number, gapSeconds: number): Promise<void>;
  /** The pages still owed, the oldest first. */
  owed(limit: number): Promise<OwedPage[]>;
  /** This page was sent, unless the news has changed since. */
  paid(page: OwedPage): Promise<void>;
}

const BACK = `owed = CASE WHEN silent_since IS NULL THEN owed ELSE 'back' END,
  owed_at = CASE WHEN silent_since IS NULL THEN owed_at ELSE @now END, silent_since = NULL`;

export function heartbeatsIn(room: Room): Heartbeats {
  return {
    beat: (sign) => room.write((tx) => hear(tx, sign, { planned: 0 })),
    goodbye: (sign) => room.write((tx) => hear(tx, sign, { planned: 1 })),
    look: (now, gapSeconds) => room.write((tx) => look(tx, now, gapSeconds)),
    owed: async (limit) =>
      room.store
        .sql(
          `SELECT h.tenant_id AS tenantId, t.box_url AS boxUrl, h.owed AS news, h.owed_at AS at,
             h.heard_at AS heardAt
           FROM heartbeats h JOIN tenants t ON t.id = h.tenant_id
           WHERE h.owed IS NOT NULL AND t.watch_seconds > 0 ORDER BY h.owed_at LIMIT ?`,
        )
        .all(limit) as OwedPage[],
    paid: (page) =>
      room.write((tx) => {
        tx.sql(
          `UPDATE heartbeats SET owed = NULL, owed_at = NULL
           WHERE tenant_id = ? AND owed = ? AND owed_at = ?`,
        ).run(page.tenantId, page.news, page.at);
      }),
  };
}

/** An older sign that arrives late tells of life, but takes back no later word. */
function hear(tx: Tx, sign: { tenantId: string; stamp: number }, word: { planned: 0 | 1 }): void {
  tx.sql(
    `INSERT INTO heartbeats (tenant_id, heard_at, stamp, planned) VALUES (@tenantId, @now, @stamp, @planned)
     ON CONFLICT DO UPDATE SET heard_at = @now,
       planned = CASE WHEN @stamp >= stamp THEN @planned ELSE planned END, stamp = max(stamp, @stamp), ${BACK}`,
  ).run({ ...sign, ...word, now: tx.at });
}

function look(tx: Tx, now: number, gapSeconds: number): void {
  const before = tx.sql("SELECT value FROM meta WHERE key = 'watched_at'").pluck().get();
  const away = typeof before !== "number" || now < before || now - before > gapSeconds;
  if (away) {
    tx.sql("UPDATE heartbeats SET heard_at = ? WHERE silent_since IS NULL").run(now);
  } else {
    tx.sql(
      `UPDATE heartbeats SET silent_since = @now, owed = 'silent', owed_at = @now
       WHERE silent_since IS NULL AND planned = 0 AND EXISTS
         (SELECT 1 FROM tenants t WHERE t.id = tenant_id
          AND t.watch_seconds > 0 AND @now - heard_at > t.watch_seconds)`,
    ).run({ now });
  }
  tx.sql(
    "INSERT INTO meta (key, value) VALUES ('watched_at', @now) ON CONFLICT DO UPDATE SET value = @now",
  ).run({ now });
}
