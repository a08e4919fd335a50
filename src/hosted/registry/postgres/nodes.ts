import { hexId } from "../../../ground/kit/ids.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import type { NodeInfo, Nodes } from "../nodes.ts";
import type { DatabaseTx } from "./connect.ts";
import { hasRunOut, type PostgresDeps } from "./deps.ts";
import { databaseMigrations } from "./migrate.ts";
import { postgresMustNotHaveMoved } from "./move-marks.ts";

/** How long a node lives after each renewal. */
const ALIVE_SECONDS = 10;
const LEAD_SECONDS = 20;
const ALIVE = `now() + interval '${ALIVE_SECONDS} s'`;
/** A renewal that takes longer is given up: the next one is due. */
const WITHIN_MS = 3_000;

/** The names of the live nodes, sorted. */
export async function namesAlive({ query }: Pick<DatabaseTx, "query">): Promise<string[]> {
  const rows = await query<{ id: string }>(
    `SELECT id FROM nodes WHERE NOT ${hasRunOut("alive_until", ALIVE_SECONDS)} ORDER BY id`,
  );
  return rows.map(({ id }) => id);
}

/** Uses separate connections, so that a storm of pages doesn't stop renewals. */
export function postgresNodes(deps: PostgresDeps): Nodes {
  const { leases } = deps.database;
  const run = hexId(deps.random);
  const schema = databaseMigrations().length;
  const limits = { withinMs: WITHIN_MS };
  const valuesOf = ({ url, version, draining }: NodeInfo) => [
    deps.node,
    run,
    url,
    version,
    schema,
    draining,
  ];
  const join = (sign: NodeInfo) =>
    leases.transaction(
      async (tx) => {
        const rows = await tx.query(
          `INSERT INTO nodes AS n (id, run, url, version, store_schema, draining, alive_until)
         VALUES ($1, $2, $3, $4, $5, $6, ${ALIVE})
         ON CONFLICT (id) DO UPDATE SET run = $2, url = $3, version = $4, store_schema = $5,
           draining = $6, alive_until = ${ALIVE}, started_at = now(), seen_at = now()
           WHERE n.run = $2 OR ${hasRunOut("n.alive_until", ALIVE_SECONDS)}
         RETURNING id`,
          valuesOf(sign),
        );
        // A move either waits for this row and sees it, or has already begun.
        await postgresMustNotHaveMoved(tx);
        return rows.length > 0;
      },
      { ...limits, repeatable: true },
    );
  /** This node's row is gone or another's: takes the name again if it is free and the registry is still here. */
  const isBack = (sign: NodeInfo) =>
    join(sign).catch((error: unknown) => {
      if (error instanceof StoreFault) return false;
      throw error;
    });
  const noun: Nodes = {
    join,
    async renew(sign) {
      const [row] = await leases.query<{ atMs: number; nodes: number; least: number | null }>(
        `UPDATE nodes SET url = $3, version = $4, store_schema = $5, draining = $6,
           seen_at = now(), alive_until = ${ALIVE}
         WHERE id = $1 AND run = $2
         RETURNING floor(extract(epoch FROM now()) * 1000)::bigint AS "atMs",
           (SELECT count(*) FROM nodes o
             WHERE o.id = $1 OR NOT ${hasRunOut("o.alive_until", ALIVE_SECONDS)}) AS nodes,
           (SELECT value FROM meta WHERE key = 'least') AS least`,
        valuesOf(sign),
        limits,
      );
      if (row === undefined) return (await isBack(sign)) ? noun.renew(sign) : { kind: "replaced" };
      const { atMs, nodes, least } = row;
      return { kind: "alive", atMs, nodes, isTooOld: (least ?? 0) > schema };
    },
    async leave() {
      await leases.query(
        `WITH gone AS (DELETE FROM nodes WHERE id = $1 AND run = $2 RETURNING id)
         UPDATE jobs SET node = NULL, until = NULL FROM gone WHERE node = gone.id`,
        [deps.node, run],
        limits,
      );
    },
    async lead(job) {
      const rows = await leases.query(
        `UPDATE jobs SET node = $1, until = now() + interval '${LEAD_SECONDS} s'
         WHERE name = $2 AND (node = $1 OR until IS NULL OR ${hasRunOut("until", LEAD_SECONDS)}) RETURNING name`,
        [deps.node, job],
        limits,
      );
      return rows.length > 0;
    },
  };
  return noun;
}
