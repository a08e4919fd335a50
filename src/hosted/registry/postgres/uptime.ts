import { MOST_OUTAGES, OUTAGE_SECONDS, type Outage, type Uptime } from "../uptime.ts";
import { type PostgresDeps, seconds } from "./deps.ts";

const COLUMNS = `${seconds("began_at")} AS "from", ${seconds("ended_at")} AS "to"`;

/** An outage is a time in which no node was alive. The next node that beats stores it, and each node reads it. */
export function postgresUptime({ database }: PostgresDeps): Uptime {
  let lastSeen = 0;
  const beat = () => database.query(BEAT);
  const since = async (from: number) => {
    const outages = await database.query<Outage>(
      `SELECT * FROM (SELECT ${COLUMNS} FROM outages WHERE ended_at >= to_timestamp($1::float8 + 1)
         ORDER BY began_at DESC LIMIT ${MOST_OUTAGES}) AS latest ORDER BY "from"`,
      [from],
    );
    lastSeen = Math.max(lastSeen, ...outages.map(({ to }) => to));
    return outages;
  };
  return {
    async begin() {
      await beat();
      return since(-1);
    },
    async beat() {
      await beat();
      return (await since(lastSeen)).at(-1) ?? null;
    },
  };
}

/** Repeated, it finds that somebody is alive. `before` is read first, because the last part needs the old value. */
const BEAT = `WITH before AS (SELECT alive_at FROM service WHERE id = 1 FOR UPDATE),
  gone AS (
    INSERT INTO outages (began_at, ended_at)
    SELECT alive_at, now() FROM before WHERE alive_at < now() - interval '${OUTAGE_SECONDS} s'
    ON CONFLICT (began_at) DO NOTHING RETURNING 1)
  INSERT INTO service (id, alive_at) SELECT 1, now() FROM (SELECT count(*) FROM gone) AS first
  ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at`;
