import { unixSeconds } from "../../ground/kit/clock.ts";
import type { Egress } from "../../ground/kit/egress.ts";
import { type ErrorDetail, ServiceError } from "../../ground/kit/errors.ts";
import type { EgressResult } from "../../ground/kit/exchange.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { parseJson } from "../../ground/kit/json.ts";
import { isSkewed, signedHeaders } from "../../ground/kit/sign.ts";
import type { Reader } from "../../ground/store/store.ts";
import { isSuccess, serverTime } from "./senders/sent.ts";

/** A relay that isn't configured yet. */
export interface RelayTarget {
  relayUrl: string;
  secret: string;
  /** The box's own tenant id. */
  tenantId: string;
}

const TIMEOUT_MS = 5_000;

/**
 * Sends a relay one signed `box.test`, which it records nowhere and pushes to nobody. Returns when the answer
 * is a relay's; throws 422 relay_not_proved, which says what is wrong, for every other end.
 */
export async function proveRelay(
  { reader, egress }: { reader: Reader; egress: Egress },
  { relayUrl, secret, tenantId }: RelayTarget,
): Promise<void> {
  const eventId = hexId(reader.random);
  const timestamp = unixSeconds(reader.clock);
  const plain = { event: "box.test", event_id: eventId, alert_id: "", project: "", timestamp };
  const body = JSON.stringify({ ...plain, tenant_id: tenantId });
  const result = await egress.send({
    method: "POST",
    url: relayUrl,
    headers: {
      "Content-Type": "application/json",
      ...signedHeaders({ secret, eventId, timestamp, body }),
    },
    body,
    timeoutMs: TIMEOUT_MS,
  });
  const fault = faultOf(result, timestamp);
  if (fault === null) return;
  throw new ServiceError(
    "relay_not_proved",
    `The relay did not take a signed test: ${fault.reason}. Nothing was changed.`,
    { details: [fault] },
  );
}

function faultOf(result: EgressResult, now: number): ErrorDetail | null {
  const { status, error } = result;
  const url = (reason: string): ErrorDetail => ({ field: "/relay_url", reason });
  if (status === null || error !== null) return url(`it can't be reached (${error ?? "network"})`);
  if (status === 401) {
    const reason = "http 401: it doesn't know this key, or the secret is another key's";
    return { field: "/relay_secret", reason };
  }
  const skew = skewOf(result, now);
  if (status === 400 && isSkewed(skew, 0)) {
    const way = skew > 0 ? "ahead" : "behind";
    return url(`http 400: this box's clock is ${Math.abs(skew)} s ${way}`);
  }
  if (!isSuccess(status)) return url(`http ${status}`);
  return saysRelayed(result.body) ? null : url("what answers there is no relay");
}

/** Seconds that this box's clock is ahead of the relay's; 0 where that isn't known. */
function skewOf(result: EgressResult, now: number): number {
  const theirs = serverTime(result);
  return theirs === null ? 0 : now - Math.round(theirs / 1000);
}

/** The one thing that every answer of a relay has (contract §15, Pairing rule 4). */
function saysRelayed(body: string): boolean {
  try {
    const value = parseJson(body) as { relayed?: unknown } | null;
    return typeof value?.relayed === "boolean";
  } catch {
    return false;
  }
}
