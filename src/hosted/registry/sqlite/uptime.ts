import type { Tx } from "../../../store/store.ts";
import { MOST_OUTAGES, type Outage, type Uptime } from "../uptime.ts";
import type { Room } from "./room.ts";

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
             (SELECT min(began_at) FROM (SELECT began_at FROM outages ORDER BY began_at DESC LIMIT ${MOST_OUTAGES}))`,
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
