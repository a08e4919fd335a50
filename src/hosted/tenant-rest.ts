import { nextDue } from "../tenant/due.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { Plan } from "./registry/tenants.ts";

export interface OpenTenant {
  tenant: Tenant;
  plan: Plan;
  /** Monotonic times of the opening and of the latest request; `usedAt` is -Infinity without a request. */
  openedAt: number;
  usedAt: number;
  /** The epoch of its seal when it was opened. */
  epoch: number;
}

/** No request takes longer, so a tenant whose last request is older may be closed. */
const LONGEST_REQUEST_MS = 120_000;
/** A tenant that was opened for due work stays open for at least this long. */
const SHORTEST_MS = 1_000;
/** A tenant with work that is due within this time stays open. */
const SOON_MS = 30_000;
const DAY_MS = 86_400_000;

/** Whether no request can be using the tenant, and it is sending nothing. */
export function isQuiet({ tenant, openedAt, usedAt }: OpenTenant, mono: number): boolean {
  const { deliveries, executions, pages } = tenant.outbox;
  return (
    mono - openedAt > SHORTEST_MS &&
    mono - usedAt > LONGEST_REQUEST_MS &&
    tenant.waiters.parked + tenant.changes.listening === 0 &&
    deliveries.inFlight + executions.inFlight + pages.inFlight === 0
  );
}

/** Whether it can be closed: not used for `warmMs`, and nothing is due soon. */
export function isAtRest(
  entry: OpenTenant,
  at: { mono: number; now: number; warmMs: number },
): boolean {
  if (!isQuiet(entry, at.mono) || at.mono - entry.usedAt < at.warmMs) return false;
  const soon = at.now + SOON_MS;
  const due = nextDue(entry.tenant, soon);
  return due === null || due > soon;
}

/** When a closing tenant must be opened again, in Unix milliseconds: at least daily, to delete old data. */
export function wakeAt(closing: Pick<Tenant, "store" | "ingest">, now: number): number {
  // Spread over half a day, so that tenants that closed together don't open together.
  const daily = now + DAY_MS * (1 - closing.store.random.fraction() / 2);
  return Math.round(Math.min(nextDue(closing) ?? daily, daily));
}
