import { hexId } from "../kit/ids.ts";
import { relay } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

export const RELAY_NAME = "hosted-relay";
export const RELAY_EVENTS = "alert.escalated,alert.opened,alert.renotified";

/**
 * Gives a project its one `hosted-relay` row where a relay is configured (decisions §7). The row holds
 * no credential: the sender reads the relay's, so that a new one is live for all projects at once.
 */
export function wireRelay(tx: Tx, projectId: number): void {
  const configured = tx.orm.select({ relayUrl: relay.relayUrl }).from(relay).get();
  if (configured === undefined) return;
  tx.sql(
    `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
     VALUES (?, ?, ?, 'webhook', ?, 1, ?, 1, ?)`,
  ).run(hexId(tx.random), projectId, RELAY_NAME, configured.relayUrl, RELAY_EVENTS, tx.at);
}
