import type { Reader } from "../ground/store/store.ts";
import type { OutboxSettings } from "../tenant/outbox.ts";
import { type PageDeps, type PageResult, pushPage } from "./page.ts";
import { noticeOf } from "./push.ts";
import { type RelayedEvent, readRelayedEvent } from "./relay-event.ts";

/** Sends the apns rows of a hosted tenant. */
type TenantPages = NonNullable<OutboxSettings["push"]>;
type Sent = Awaited<ReturnType<TenantPages>>;

const IN_FLIGHT_MS = 2_000;

/**
 * Pushes a hosted tenant's events to the devices of its members (contract §17, rule 6). An escalation goes to the
 * members that it names, every other event to all present members. Several apns rows of one event push once.
 */
export function tenantPages(deps: PageDeps, tenantId: string, reader: () => Reader): TenantPages {
  return async (_integration, message) => {
    const event = readRelayedEvent(Buffer.from(message.body));
    if (typeof event === "string") return { verdict: { kind: "never", error: event } };
    const result = await pushPage(deps, {
      key: {
        tenantId,
        alertId: event.alertId,
        event: event.event,
        timestamp: event.timestamp ?? message.signedAt,
      },
      relayKeyId: null,
      audience: { tenantId, through: "memberships", only: named(event) ?? accounts(reader()) },
      notice: noticeOf({ ...event, tenantId }),
      subject: event.alertId,
    });
    return sentOf(result, named(event));
  };
}

function named(event: RelayedEvent): string[] | null {
  return event.event === "alert.escalated" ? event.pageAccounts : null;
}

function accounts(reader: Reader): string[] {
  return reader.sql<[], string>("SELECT id FROM accounts").pluck().all();
}

function sentOf(result: PageResult, accounts: string[] | null): Sent {
  switch (result.kind) {
    case "paged":
      return {
        verdict: { kind: "delivered", status: 200 },
        paged: { devices: result.devices, accounts },
      };
    case "revoked":
    case "late":
      return {
        verdict: {
          kind: "later",
          error: "whom to page was not learnt",
          retryAfterMs: IN_FLIGHT_MS,
        },
        ours: true,
      };
    case "in_flight":
      return {
        verdict: { kind: "later", error: "being pushed", retryAfterMs: IN_FLIGHT_MS },
        ours: true,
      };
    case "failed": {
      const { why, retryAfter } = result;
      const rest = retryAfter === null ? {} : { retryAfterMs: retryAfter * 1000 };
      return { verdict: { kind: "later", error: `push failed: ${why}`, ...rest } };
    }
    case "unavailable":
      return { verdict: { kind: "later", error: `no push can go out: ${result.why}` }, ours: true };
  }
}
