import type { Tx } from "../../store/store.ts";
import type { Room } from "./room.ts";

/** A span in which nobody served, in seconds. */
export interface Outage {
  from: number;
  to: number;
}

export interface Uptime {
  /** The service comes up: the time since it was last seen alive was an outage. The latest ones, this one included. */
  begin(): Promise<Outage[]>;
  /** The service is alive. */
  beat(): Promise<void>;
}

const KEEP = 1000;

export function uptimeIn(room: Room): Uptime {
  return {
    begin: () =>
      room.write((tx) => {
        const alive = tx.sql<[]>("SELECT value FROM meta WHERE key = 'alive_at'").pluck().get();
        if (typeof alive === "number" && alive < tx.at) {
          tx.sql<[alive: number, at: number]>(
            "INSERT OR REPLACE INTO outages (began_at, ended_at) VALUES (?, ?)",
          ).run(alive, tx.at);
        }
        beat(tx);
        tx.sql<[]>(
          `DELETE FROM outages WHERE began_at <
             (SELECT min(began_at) FROM (SELECT began_at FROM outages ORDER BY began_at DESC LIMIT ${KEEP}))`,
        ).run();
        return tx
          .sql<[], Outage>(
            "SELECT began_at AS 'from', ended_at AS 'to' FROM outages ORDER BY began_at",
          )
          .all();
      }),
    beat: () => room.write(beat),
  };
}

function beat(tx: Tx): void {
  tx.sql<{ now: number }>(
    "INSERT INTO meta (key, value) VALUES ('alive_at', @now) ON CONFLICT DO UPDATE SET value = @now",
  ).run({ now: tx.at });
}

/** The seconds from `since` on in which nobody served. */
export function downSince(outages: readonly Outage[], since: number): number {
  return outages.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}
