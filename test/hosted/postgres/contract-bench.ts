import type { TestContext } from "node:test";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { readDatabaseUrl } from "../../../src/hosted/registry/postgres/database-url.ts";
import { openPostgresRegistry } from "../../../src/hosted/registry/postgres/registry.ts";
import type { Registry, RegistrySealer } from "../../../src/hosted/registry/registry.ts";
import { plainSealer } from "../../support/hosted.ts";
import { pooledUrl } from "../../support/pgbouncer.ts";
import { testDatabase } from "../../support/postgres.ts";
import type { ContractBench } from "../contract/bench.ts";

const BEGIN = Date.UTC(2026, 0, 5, 9);

/** Two nodes with separate connections, on a database whose clock the test turns. `pooled`: through PgBouncer. */
export async function openOnPostgres(
  t: TestContext,
  { apartMs = 0, pooled = false } = {},
): Promise<ContractBench> {
  const made = await testDatabase(t);
  let now = BEGIN;
  await made.setNow(now);
  const url = readDatabaseUrl(pooled ? await pooledUrl(t, made) : made.url);
  if (typeof url === "string") throw new Error(url);
  const opened: Registry[] = [];
  const node = async (name: string, aheadMs = 0, sealer: RegistrySealer = plainSealer) => {
    const registry = await openPostgresRegistry({
      url,
      ca: null,
      pool: 3,
      node: name,
      random: systemRandom,
      onPlain() {},
      clock: { ...systemClock, now: () => now + aheadMs },
      sealer: () => sealer,
      dial: () => Promise.reject(new Error("a socket of this machine isn't dialled")),
    });
    opened.push(registry);
    return registry;
  };
  t.after(() => {
    for (const one of opened) one.close();
  });
  const registry = await node("one");
  const database = made.open();
  return {
    registry,
    nodes: [registry, await node("two", apartMs)],
    clock: {
      now: () => now,
      async turn(ms) {
        now += ms;
        await made.setNow(now);
      },
    },
    async contents() {
      const tables = await database.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      );
      const all = tables.map(({ name }) =>
        database.query<{ row: string }>(`SELECT x::text AS row FROM ${name} AS x`),
      );
      return JSON.stringify(await Promise.all(all));
    },
    keyless: () => node("three", 0, { seal: plainSealer.seal, open: () => null }),
  };
}
