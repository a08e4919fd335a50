import { and, eq, isNotNull, isNull, ne } from "drizzle-orm";
import * as z from "zod";
import { notFound } from "../../ground/kit/errors.ts";
import { boolean, text } from "../../ground/kit/fields.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { integrations, projects, relay } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { releaseDeliveries } from "../../out/outbox/deliveries.ts";
import type { OutboxEntry } from "../../out/outbox/destination.ts";
import { forgetSilence } from "../../out/outbox/relay-silence.ts";
import { dropDeliveries } from "../../out/outbox/rows.ts";
import { changeConfig } from "./projects.ts";
import { RELAY_NAME, wireRelay } from "./relay-wiring.ts";

/** A project's row for the relay. */
const isRelays = eq(integrations.relay, true);

/** The relay as it is read: the secret never is (contract §15, Pairing and relay). */
export const relayAnswer = z.object({
  configured: z.boolean(),
  name: z.string(),
  relay_url: z.string(),
});
type RelayView = z.output<typeof relayAnswer>;

/** The body that sets it. */
export const relayWrite = z.strictObject({
  relay_url: text(2048, 1).meta({ format: "uri" }),
  relay_secret: text(128, 32),
  hosted_tenant_id: text(64).optional(),
  box_public_url: text(2048).optional(),
  test: boolean.optional().meta({
    description:
      "Send the relay one signed test first, and change nothing unless its answer is a relay's.",
  }),
});

export function readRelay(reader: Reader): RelayView {
  const row = reader.orm.select({ url: relay.relayUrl }).from(relay).get();
  return { configured: row !== undefined, name: RELAY_NAME, relay_url: row?.url ?? "" };
}

interface RelayChange {
  relayUrl: string;
  secret: string;
  /** Where the box is known to the hosted service, and how it is reached; null keeps what is known. */
  announcement: { hostedTenantId: string; boxPublicUrl: string } | null;
}

/**
 * Sets the relay that the box pages through and wires every project that isn't yet, all in the
 * caller's transaction (contract §7). What waits for the relay is due at once: the credential that
 * kept it waiting may be the one that is replaced here.
 */
export function configureRelay(tx: Tx, sealer: Sealer, change: RelayChange): void {
  const { relayUrl, secret, announcement } = change;
  const sealedSecret = sealer.seal(secret, sealPlace("relay", "sealed_secret", 1));
  const told =
    announcement === null
      ? {}
      : {
          hostedTenantId: announcement.hostedTenantId,
          boxPublicUrl: announcement.boxPublicUrl,
        };
  tx.orm
    .insert(relay)
    .values({ id: 1, relayUrl, sealedSecret, ...told })
    .onConflictDoUpdate({ target: relay.id, set: { relayUrl, sealedSecret, ...told } })
    .run();
  // The relay may be another now, so it is told again where this box is.
  tx.orm
    .update(relay)
    .set({ announceAt: tx.at })
    .where(and(isNotNull(relay.hostedTenantId), isNotNull(relay.boxPublicUrl)))
    .run();
  moveRows(tx, relayUrl);
  wireRest(tx);
  releaseRows(tx);
  forgetSilence(tx);
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
  if (tx.orm.delete(relay).run().changes === 0) throw notFound("relay");
  const { id, name, type, projectId } = integrations;
  const rows = tx.orm
    .select({ id, name, type, projectId })
    .from(integrations)
    .where(isRelays)
    .all();
  let dropped = 0;
  for (const { id, name, type, projectId } of rows) {
    for (const { alertId, ...delivery } of dropDeliveries(tx, id)) {
      dropped++;
      if (alertId === null) continue;
      const detail = { integration: name, type, ...delivery, error: "the relay was removed" };
      tell(tx, alertId, { kind: "delivery_dropped", detail });
    }
    tx.orm.delete(integrations).where(eq(integrations.id, id)).run();
    tx.note({ topic: "endpoint", id });
    changeConfig(tx, projectId);
  }
  forgetSilence(tx);
  tx.note({ topic: "relay" });
  return dropped;
}

function moveRows(tx: Tx, relayUrl: string): void {
  const moved = tx.orm
    .update(integrations)
    .set({ url: relayUrl })
    .where(and(isRelays, ne(integrations.url, relayUrl)))
    .returning({ projectId: integrations.projectId })
    .all();
  for (const { projectId } of moved) changeConfig(tx, projectId);
}

function wireRest(tx: Tx): void {
  const bare = tx.orm
    .select({ id: projects.id })
    .from(projects)
    .leftJoin(integrations, and(eq(integrations.projectId, projects.id), isRelays))
    .where(isNull(integrations.id))
    .all();
  for (const { id } of bare) {
    wireRelay(tx, id);
    changeConfig(tx, id);
  }
}

/** Rows that were disabled stay so: enabling is the operator's word. */
function releaseRows(tx: Tx): void {
  const enabled = tx.orm
    .update(integrations)
    .set({ consecutiveFailures: 0, failingSince: null, lastError: null })
    .where(and(isRelays, eq(integrations.enabled, true)))
    .returning({ id: integrations.id })
    .all();
  for (const { id } of enabled) {
    releaseDeliveries(tx, id);
    tx.note({ topic: "endpoint", id, well: true });
  }
}
