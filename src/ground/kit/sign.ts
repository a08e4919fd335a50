import { createHmac, timingSafeEqual } from "node:crypto";
import type { Random } from "./random.ts";

/**
 * Signatures of deliveries and of requests to the relay (contract §17, rule 2, contract §6 Headers and §7): HMAC-SHA256
 * over timestamp, a dot and the raw body. Beside it stand the headers of Standard Webhooks (standardwebhooks.com,
 * specification 1.0.0).
 */

/** A new webhook secret: `whsec_` and the base64 of 32 random bytes. */
export function mintWebhookSecret(random: Random): string {
  return `whsec_${random.bytes(32).toString("base64")}`;
}

/**
 * The lower-case hex HMAC-SHA256 of `${timestamp}.${body}`; its key is the UTF-8 bytes of the secret. `timestamp`: Unix
 * seconds, or the header's text when a signature is checked.
 */
export function signature(
  secret: string,
  timestamp: number | string,
  body: string | Uint8Array,
): string {
  return createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
}

/** The signature headers of one attempt; `timestamp` in Unix seconds. */
export function signedHeaders(signed: {
  secret: string;
  eventId: string;
  timestamp: number;
  body: string | Uint8Array;
}): Record<string, string> {
  const { secret, eventId, timestamp } = signed;
  // Both signatures read the same bytes.
  const body = typeof signed.body === "string" ? Buffer.from(signed.body) : signed.body;
  const standard = createHmac("sha256", standardKey(secret))
    .update(`${eventId}.${timestamp}.`)
    .update(body)
    .digest("base64");
  return {
    "X-Service-Timestamp": String(timestamp),
    "X-Service-Signature": signature(secret, timestamp, body),
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${standard}`,
  };
}

/** The key for Standard Webhooks: the base64 after `whsec_`, else the text itself. */
function standardKey(secret: string): Buffer {
  return secret.startsWith("whsec_")
    ? Buffer.from(secret.slice("whsec_".length), "base64")
    : Buffer.from(secret);
}

/** Both signature headers of a request, well-formed but not checked yet. */
interface SignatureHeaders {
  readonly timestamp: number;
  /** The timestamp as it was sent. The signature covers this text. */
  readonly timestampText: string;
  /** 64 lower-case hex characters. */
  readonly signature: string;
}

/** Reads the two headers; null when one is missing or malformed. */
export function readSignatureHeaders(
  timestamp: string | undefined,
  given: string | undefined,
): SignatureHeaders | null {
  if (!/^\d{1,12}$/.test(timestamp ?? "") || !/^[0-9a-f]{64}$/.test(given ?? "")) return null;
  return { timestamp: Number(timestamp), timestampText: `${timestamp}`, signature: `${given}` };
}

/** Whether a timestamp is more than five minutes from `now` (Unix seconds). */
export function isSkewed(timestamp: number, now: number): boolean {
  return Math.abs(timestamp - now) > 300;
}

/** Whether the body was signed with the secret. Takes the same time for every signature. */
export function isSignedBy(
  secret: string,
  headers: SignatureHeaders,
  body: string | Uint8Array,
): boolean {
  const expected = signature(secret, headers.timestampText, body);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(headers.signature));
}

/** The same for the header of Standard Webhooks. One right signature in it is enough. */
export function isStandardSigned(
  secret: string,
  signed: { eventId: string; timestamp: number; body: string | Uint8Array },
  header: string,
): boolean {
  const expected = Buffer.from(signedHeaders({ ...signed, secret })["webhook-signature"] ?? "");
  const given = header.split(" ").map((one) => Buffer.from(one));
  return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
