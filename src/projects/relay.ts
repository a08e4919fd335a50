import { notFound } from "../kit/errors.ts";
import type { Sealer } from "../kit/sealer.ts";
import type { OutboxEntry } from "../outbox/destination.ts";
import { dropDeliveries } from "../outbox/rows.ts";
import { sealPlace } from "../store/sealed.ts";
import type { Reader, Tx } from "../store/store.ts";
import { changeConfig } from "./projects.ts";
import { RELAY_NAME, wireRelay } from "./relay-wiring.ts";

/** The relay as it is read: the secret never is (api §4, Pairing and relay). */
export interface RelayView {
  configured: boolean;
  name: string;
  relay_url: string;
}

export function readRelay(reader: Reader): RelayView {
  const url = reader.sql("SELECT relay_url FROM relay").pluck().get() as string | undefined;
  return { configured: url !== undefined, name: RELAY_NAME, relay_url: url ?? "" };
}

export interface RelayChange {
  relayUrl: string;
  secret: string;
  /** Where the box is known to the hosted service, and how it is reached; null keeps what is known. */
  announcement: { hostedTenantId: string; boxPublicUrl: string } | null;
}

const WRITE = `INSERT INTO relay (id, relay_url, sealed_secret, hosted_tenant_id, box_public_url)
  VALUES (1, @relayUrl, @sealed, @hostedTenantId, @boxPublicUrl)
  ON CONFLICT DO UPDATE SET relay_url = excluded.relay_url, sealed_secret = excluded.sealed_secret,
    hosted_tenant_id = coalesce(excluded.hosted_tenant_id, hosted_tenant_id),
    box_public_url = coalesce(excluded.box_public_url, box_public_url)`;

/**
 * Sets the relay that the box pages through and wires every project that isn't yet, all in the
 * caller's transaction (decisions §7). What waits for the relay is due at once: the credential that
 * kept it waiting may be the one that is replaced here.
 */
export function configureRelay(tx: Tx, sealer: Sealer, change: RelayChange): void {
  const { relayUrl, secret, announcement } = change;
  tx.sql(WRITE).run({
    relayUrl,
    sealed: sealer.seal(secret, sealPlace("relay", "sealed_secret", 1)),
    hostedTenantId: announcement?.hostedTenantId ?? null,
    boxPublicUrl: announcement?.boxPublicUrl ?? null,
  });
  // The relay may be another now, so it is told again where this box is.
  tx.sql(
    "UPDATE relay SET announce_at = ? WHERE hosted_tenant_id IS NOT NULL AND box_public_url IS NOT NULL",
  ).run(tx.at);
  moveRows(tx, relayUrl);
  wireRest(tx);
  releaseRows(tx);
  tx.note({ topic: "relay" });
}

/**
 * Forgets the relay and takes its row out of every project, later ones included. What waited for it is dropped,
 * which `tell` writes into the history of each alert. Returns how many deliveries that were. Throws 404 where no
 * relay is configured.
 */
export function removeRelay(
  tx: Tx,
  tell: (tx: Tx, alertId: number, entry: OutboxEntry) => void,
): number {
  if (tx.sql("DELETE FROM relay").run().changes === 0) throw notFound("relay");
  const rows = tx
    .sql("SELECT id, name, type, project_id AS projectId FROM integrations WHERE relay = 1")
    .all() as { id: string; name: string; type: string; projectId: number }[];
  let dropped = 0;
  for (const { id, name, type, projectId } of rows) {
    for (const { alertId, ...delivery } of dropDeliveries(tx, id)) {
      dropped++;
      if (alertId === null) continue;
      const detail = { integration: name, type, ...delivery, error: "the relay was removed" };
      tell(tx, alertId, { kind: "delivery_dropped", detail });
    }
    tx.sql("DELETE FROM integrations WHERE id = ?").run(id);
    tx.note({ topic: "endpoint", id });
    changeConfig(tx, projectId);
  }
  tx.note({ topic: "relay" });
  return dropped;
}

function moveRows(tx: Tx, relayUrl: string): void {
  const moved = tx
    .sql("UPDATE integrations SET url = ? WHERE relay = 1 AND url <> ? RETURNING project_id")
    .pluck()
    .all(relayUrl, relayUrl) as number[];
  for (const projectId of moved) changeConfig(tx, projectId);
}

function wireRest(tx: Tx): void {
  const bare = tx
    .sql(
      `SELECT id FROM projects p WHERE NOT EXISTS
         (SELECT 1 FROM integrations i WHERE i.project_id = p.id AND i.relay = 1)`,
    )
    .pluck()
    .all() as number[];
  for (const projectId of bare) {
    wireRelay(tx, projectId);
    changeConfig(tx, projectId);
  }
}

/** Rows that were disabled stay so: enabling is the operator's word. */
function releaseRows(tx: Tx): void {
  const enabled = tx
    .sql(
      `UPDATE integrations SET consecutive_failures = 0, failing_since = NULL, last_error = NULL
       WHERE relay = 1 AND enabled = 1 RETURNING id`,
    )
    .pluck()
    .all() as string[];
  for (const id of enabled) {
    tx.sql(
      `UPDATE deliveries SET next_attempt_ms = @now
       WHERE integration_id = @id AND status = 'pending' AND next_attempt_ms > @now`,
    ).run({ id, now: tx.clock.now() });
    tx.note({ topic: "endpoint", id, well: true });
  }
}
