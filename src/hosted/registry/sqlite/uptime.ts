import type { Tx } from "../../../ground/store/store.ts";
import { MOST_OUTAGES, OUTAGE_SECONDS, type Outage, type Uptime } from "../uptime.ts";
import type { SqliteDeps } from "./deps.ts";

export function sqliteUptime(deps: SqliteDeps): Uptime {
  const { clock } = deps.store;
  // Monotonic: a wall clock that was set is no outage, and a process that stood still is one.
  let aliveMono = Number.NEGATIVE_INFINITY;
  const alive = async <T>(change: (tx: Tx) => T): Promise<T> => {
    const value = await deps.write((tx) => {
      const told = change(tx);
      beat(tx);
      return told;
    });
    aliveMono = clock.mono();
    return value;
  };
  return {
    begin: () =>
      alive((tx) => {
        note(tx);
        return tx
          .sql<[], Outage>(
            "SELECT began_at AS 'from', ended_at AS 'to' FROM outages ORDER BY began_at",
          )
          .all();
      }),
    beat: () => alive((tx) => (clock.mono() - aliveMono < OUTAGE_SECONDS * 1000 ? null : note(tx))),
  };
}

/** Stores the time since a process was last seen alive as an outage. */
function note(tx: Tx): Outage | null {
  const from = tx.sql<[]>("SELECT value FROM meta WHERE key = 'alive_at'").pluck().get();
  if (typeof from !== "number" || from >= tx.at) return null;
  tx.sql<[from: number, to: number]>(
    "INSERT OR REPLACE INTO outages (began_at, ended_at) VALUES (?, ?)",
  ).run(from, tx.at);
  tx.sql<[]>(
    `DELETE FROM outages WHERE began_at <
       (SELECT min(began_at) FROM (SELECT began_at FROM outages ORDER BY began_at DESC LIMIT ${MOST_OUTAGES}))`,
  ).run();
  return { from, to: tx.at };
}

function beat(tx: Tx): void {
  tx.sql<{ now: number }>(
    "INSERT INTO meta (key, value) VALUES ('alive_at', @now) ON CONFLICT DO UPDATE SET value = @now",
  ).run({ now: tx.at });
}
