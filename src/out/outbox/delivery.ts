import type { Store, Tx } from "../../ground/store/store.ts";
import type { Credentials } from "./credentials.ts";
import type { IntegrationRow, OutboxEntry, Outgoing, Sent } from "./destination.ts";
import type { BreakerLimits } from "./retry.ts";

export interface DeliveryQueueOptions {
  store: Store;
  breaker: BreakerLimits;
  /** Sends through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Outgoing): Promise<Sent>;
  /** Stores credentials that a channel learned. */
  learn(tx: Tx, integrationId: string, learned: Credentials): void;
  /** Tells the project's other channels and the log that an endpoint was disabled. */
  disabled(tx: Tx, integration: IntegrationRow, why: string): void;
  /** The relay has no phone of those whom an event of an alert pages; `since`: the event's row. */
  noPhone(tx: Tx, of: { alertId: number; since: number }): void;
  /** Writes a line of an alert's history. */
  tell(tx: Tx, alertId: number, entry: OutboxEntry): void;
}

export interface DeliveryOutcome extends Sent {
  signedAt: number;
  /** Where it was sent to: see `addressOf`. Absent where nothing was, as is the next. */
  sentTo?: string;
  eventId?: string;
}
