import type { EventBody } from "../../src/out/outbox/event.ts";
import { describe, type Message } from "../../src/out/outbox/message.ts";

/** The event in words, as channels get it. */
export function inWords(event: EventBody, link: string | null = null): Message {
  return describe(event, { link });
}

/** An event as it goes out, with changes. */
export function eventBody(changes: Partial<EventBody> = {}): EventBody {
  return {
    event: "alert.opened",
    event_id: "evt_0123456789abcdef0123456789abcdef",
    alert_id: "7",
    project: "shop",
    rule: "Payments failing",
    state: "open",
    template: "Payment <*> failed for <*>",
    level: 400,
    count: 12,
    first_seen: Date.UTC(2026, 0, 5, 3, 0) / 1_000,
    last_seen: Date.UTC(2026, 0, 5, 3, 12) / 1_000,
    last_message: "Payment 42 failed for bob",
    identifiers: { host: "web-1" },
    investigate: false,
    escalation_level: 0,
    page_accounts: [],
    timestamp: Date.UTC(2026, 0, 5, 3, 12, 1) / 1_000,
    tenant_id: "0123456789abcdef",
    ...changes,
  };
}
