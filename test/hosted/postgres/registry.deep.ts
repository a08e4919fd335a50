import type { TestContext } from "node:test";
import { pgbouncer } from "../../support/pgbouncer.ts";
import { postgresTest } from "../../support/postgres.ts";
import { claimsContract } from "../contract/claims.ts";
import { peopleContract } from "../contract/people.ts";
import { tenantsContract } from "../contract/tenants.ts";
import { openOnPostgres } from "./contract-bench.ts";

const skips = pgbouncer === null && process.env["BOX_TEST_POSTGRES"] !== "must";

const pooled = {
  name: "PostgreSQL by way of PgBouncer in transaction mode",
  test: (name: string, run: (t: TestContext) => Promise<void>) =>
    postgresTest(name, (t) => (skips ? t.skip("no PgBouncer") : run(t))),
  open: (t: TestContext, options?: { apartMs?: number }) =>
    openOnPostgres(t, { ...options, pooled: true }),
};
peopleContract(pooled);
tenantsContract(pooled);
claimsContract(pooled);
