import type { TestContext } from "node:test";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { postgresClaims } from "../../../src/hosted/registry/postgres/claims.ts";
import type { Database } from "../../../src/hosted/registry/postgres/connect.ts";
import type { PostgresDeps } from "../../../src/hosted/registry/postgres/deps.ts";
import { postgresHeartbeats } from "../../../src/hosted/registry/postgres/heartbeats.ts";
import { postgresNodes } from "../../../src/hosted/registry/postgres/nodes.ts";
import { postgresRelayKeys } from "../../../src/hosted/registry/postgres/relay-keys.ts";
import { postgresUptime } from "../../../src/hosted/registry/postgres/uptime.ts";
import { plainSealer } from "../../support/hosted.ts";
import { pooledUrl } from "../../support/pgbouncer.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";

/** The parts of a node's registry that pages and heartbeats use. */
export interface NounsOfNode {
  deps: PostgresDeps;
  claims: ReturnType<typeof postgresClaims>;
  heartbeats: ReturnType<typeof postgresHeartbeats>;
  relayKeys: ReturnType<typeof postgresRelayKeys>;
  uptime: ReturnType<typeof postgresUptime>;
  nodes: ReturnType<typeof postgresNodes>;
}

export interface NounBench {
  made: TestDatabase;
  /** For queries of the test itself. */
  database: Database;
  node(name: string, aheadMs?: number, by?: Database): NounsOfNode;
  /** A box tenant with a live relay key. */
  box(watchSeconds?: number): Promise<{ tenantId: string; relayKeyId: string }>;
  /** Resolves when so many statements wait for a lock. */
  waiting(count: number): Promise<void>;
}

export const NOON = Date.UTC(2026, 0, 5, 12);

/**
 * A database whose clock stands at NOON until it is turned, and nodes whose own clocks may differ. `pooled`: through
 * PgBouncer.
 */
export async function nounBench(
  t: TestContext,
  { pooled = false }: { pooled?: boolean } = {},
): Promise<NounBench> {
  const made = await testDatabase(t);
  const by = pooled ? await pooledUrl(t, made) : made.url;
  await made.setNow(NOON);
  const database = made.open();
  let boxes = 0;
  return {
    made,
    database,
    node(name, aheadMs = 0, own = made.open({ by })) {
      const deps: PostgresDeps = {
        database: own,
        sealer: plainSealer,
        random: systemRandom,
        node: name,
        clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
      };
      return {
        deps,
        claims: postgresClaims(deps),
        heartbeats: postgresHeartbeats(deps),
        relayKeys: postgresRelayKeys(deps),
        uptime: postgresUptime(deps),
        nodes: postgresNodes(deps),
      };
    },
    waiting: (count) => waitingFor(made, count),
    async box(watchSeconds = 300) {
      const tenantId = (++boxes).toString(16).padStart(16, "0");
      const relayKeyId = `rk_${tenantId}`;
      await database.query(
        "INSERT INTO tenants (id, kind, plan, watch_seconds) VALUES ($1, 'box', 'free', $2)",
        [tenantId, watchSeconds],
      );
      const sealed = plainSealer.seal(`secret of ${tenantId}`, `relay_keys|${relayKeyId}`);
      await database.query("INSERT INTO relay_keys (id, tenant_id, sealed) VALUES ($1, $2, $3)", [
        relayKeyId,
        tenantId,
        sealed,
      ]);
      return { tenantId, relayKeyId };
    },
  };
}

/** Resolves when `count` statements of a test's database wait for a lock. */
export async function waitingFor(made: TestDatabase, count: number): Promise<void> {
  const database = made.open({ pool: 1 });
  const sql = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  for (let n = -1; n !== count; ) n = (await database.query<{ n: number }>(sql))[0]?.n ?? 0;
}
