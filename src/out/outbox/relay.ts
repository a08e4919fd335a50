import type { Egress } from "../../ground/kit/egress.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { isSkewed } from "../../ground/kit/sign.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Store, Tx } from "../../ground/store/store.ts";
import type { Sent } from "./destination.ts";
import { PAGES_PHONES, PUSH_EVENTS } from "./phones.ts";
import type { Verdict } from "./retry.ts";
import { sendWebhook } from "./senders/webhook.ts";

/** The hosted relay that a box pages through, as it is stored (contract §13, Relay configuration). */
export interface RelayRow {
  relayUrl: string;
  sealedSecret: string;
  hostedTenantId: string | null;
  boxPublicUrl: string | null;
  /** When the box's address is to be announced next, in seconds; null: never. */
  announceAt: number | null;
}

/** null where none is configured. */
export function findRelay(reader: Reader): RelayRow | null {
  const row = reader
    .sql<[]>(
      `SELECT relay_url AS relayUrl, sealed_secret AS sealedSecret, hosted_tenant_id AS hostedTenantId,
         box_public_url AS boxPublicUrl, announce_at AS announceAt FROM relay`,
    )
    .get();
  return (row as RelayRow | undefined) ?? null;
}

/** Where the relay's secret is sealed: once, for all projects. */
export const RELAY_SECRET = sealPlace("relay", "sealed_secret", 1);

/** How a call of the relay went. `skewSeconds`: how far this box's clock is ahead; null where it isn't known. */
interface RelayAnswer {
  verdict: Verdict;
  skewSeconds: number | null;
  /** Phones that were paged; null where it didn't say. */
  devices: number | null;
  /** Another box says that it lives with this box's key. */
  anotherBox: boolean;
}

/**
 * Signs a body with the relay's credential and sends it once. Null where the secret can't be opened,
 * because its key is lost.
 */
export async function callRelay(
  via: { store: Store; sealer: Sealer; egress: Egress; timeoutMs?: number; signal?: AbortSignal },
  relay: RelayRow,
  message: { eventId: string; timestamp: number; body: string; pages?: boolean },
): Promise<RelayAnswer | null> {
  const { store, sealer, ...how } = via;
  const { pages = false, ...said } = message;
  const secret = sealer.open(relay.sealedSecret, RELAY_SECRET);
  if (secret === null) return null;
  const now = store.clock.now();
  const sent = await sendWebhook({ ...how, now }, { url: relay.relayUrl, secret, ...said });
  const { serverTime } = sent;
  const skewSeconds = serverTime === null ? null : Math.round((now - serverTime) / 1000);
  const verdict = inRelayWords(sent.verdict, skewSeconds);
  return { verdict, skewSeconds, ...readAnswer(sent.answer, pages) };
}

/** A count that isn't there or is no count says nothing, unless it relayed a page to nobody (contract §13). */
function readAnswer(answer: string, pages: boolean): Pick<RelayAnswer, "devices" | "anotherBox"> {
  try {
    const said = JSON.parse(answer) as {
      relayed?: unknown;
      duplicate?: unknown;
      devices?: unknown;
      another_box?: unknown;
    };
    const none = pages && said.relayed === false && said.duplicate !== true ? 0 : null;
    const devices = Number.isSafeInteger(said.devices) ? Number(said.devices) : none;
    return { devices, anotherBox: said.another_box === true };
  } catch {
    return { devices: null, anotherBox: false };
  }
}

/** A relay's refusals mean something: a key that was rotated, or a clock that is off. */
function inRelayWords(verdict: Verdict, skewSeconds: number | null): Verdict {
  if (verdict.kind !== "later") return verdict;
  if (verdict.error === "http 401")
    return { ...verdict, error: "http 401: the relay key was rotated or revoked" };
  const off = skewSeconds ?? 0;
  if (verdict.error !== "http 400" || !isSkewed(off, 0)) return verdict;
  const way = off > 0 ? "ahead" : "behind";
  return { ...verdict, error: `http 400: this box's clock is ${Math.abs(off)} s ${way}` };
}

/** The same page is on its way already: nobody's fault, and no reason to rest. */
export function isInFlight(sent: Sent): boolean {
  return sent.verdict.kind === "later" && sent.verdict.error === "http 409";
}

const PUSHES = `SELECT alertId, max(since) AS since FROM (
    SELECT d.alert_id AS alertId, d.event_row AS since, d.event FROM deliveries d WHERE d.status = 'pending'
      AND d.integration_id IN (SELECT id FROM integrations WHERE ${PAGES_PHONES})
    UNION ALL SELECT d.alert_id, d.event_row, d.event FROM deliveries d WHERE d.finished_at = ? AND d.status = 'failed'
      AND d.integration_id IN (SELECT id FROM integrations WHERE ${PAGES_PHONES}))
  WHERE event IN ${PUSH_EVENTS} AND alertId IS NOT NULL GROUP BY alertId`;

/** Alerts of which a push to phones waits, or came to nothing just now; `since`: the event that it tells of. */
export const pushesAtStake = (tx: Tx): { alertId: number; since: number }[] =>
  tx.sql<[at: number], { alertId: number; since: number }>(PUSHES).all(tx.at);
