import { statSync } from "node:fs";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { turns } from "../../ground/kit/turns.ts";
import { oldestWaiting } from "../../out/outbox/rows.ts";
import type { BoxLoad, HeldNow } from "../../tenant/host.ts";
import { heldNow } from "../../tenant/retention.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Refusals } from "../../web/http/refusals.ts";

const MINUTES = 60;
/** Errors with status 429. */
const LATER = new Set(["rate_limited", "overloaded", "storage_full"]);

/** The box's present load. */
export function loadOf(tenant: Tenant, refusals: Refusals): BoxLoad {
  const { store, clock, ingest, changes } = tenant;
  const minutes = new Array<number>(MINUTES).fill(0);
  for (const heard of ingest.heardLately())
    for (const [at, n] of heard.minutes.entries()) minutes[at] = (minutes[at] ?? 0) + n;
  const { n, oldest } = oldestWaiting(store);
  return {
    minutes,
    commitMs: percentile(store.commitTimes(), 0.99),
    longestTurn: turns.longest(),
    waiting: n,
    oldestSeconds: oldest === null ? null : Math.max(0, unixSeconds(clock) - oldest),
    streams: changes.listening,
    refused: refusals
      .requests()
      .filter(({ code }) => LATER.has(code))
      .reduce((sum, one) => sum + one.n, 0),
    shed: ingest.stats().shed,
  };
}

/** The age of stored lines and audit entries, and the size of the store. */
export function heldOf({ store }: Tenant): HeldNow {
  return { ...heldNow(store), storeBytes: statSync(store.path).size };
}

/** The nearest rank; null for an empty list. Pure. */
export function percentile(times: Float64Array, part: number): number | null {
  const sorted = times.toSorted();
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
}
