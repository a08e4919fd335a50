import { hexId } from "../../ground/kit/ids.ts";
import { integrations, relay } from "../../ground/store/schema.ts";
import type { Tx } from "../../ground/store/store.ts";

export const RELAY_NAME = "hosted-relay";
const RELAY_EVENTS = "alert.escalated,alert.opened,alert.renotified";

/**
 * Gives a project its one `hosted-relay` row where a relay is configured (contract §7). The row holds
 * no credential: the sender reads the relay's, so that a new one is live for all projects at once.
 */
export function wireRelay(tx: Tx, projectId: number): void {
  const configured = tx.orm.select({ relayUrl: relay.relayUrl }).from(relay).get();
  if (configured === undefined) return;
  tx.orm
    .insert(integrations)
    .values({
      id: hexId(tx.random),
      projectId,
      name: RELAY_NAME,
      type: "webhook",
      url: configured.relayUrl,
      enabled: true,
      eventFilter: RELAY_EVENTS,
      relay: true,
      speaks: false,
      consecutiveFailures: 0,
      createdAt: tx.at,
    })
    .run();
}
