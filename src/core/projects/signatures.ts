import * as z from "zod";
import { ServiceError } from "../../ground/kit/errors.ts";
import { text } from "../../ground/kit/fields.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { isSignedBy, isStandardSigned, readSignatureHeaders } from "../../ground/kit/sign.ts";
import { openCredentials } from "../../out/outbox/credentials.ts";
import { type IntegrationRow, UNREADABLE } from "../../out/outbox/destination.ts";

/** What a receiver got: its two headers and the body, byte for byte. */
export const signatureCheck = z.strictObject({
  timestamp: text(20, 1).meta({ description: "`X-Service-Timestamp`, or `webhook-timestamp`." }),
  signature: text(256, 1).meta({
    description: "`X-Service-Signature`, or `webhook-signature` with the id beside it.",
  }),
  id: text(128).optional().meta({ description: "`webhook-id`, for a `webhook-signature`." }),
  body: text(262_144),
});

const MISMATCH =
  "The signature is not of this body under the stored secret: the body must be the bytes as they came, before anything parses them.";
const NO_SHAPE =
  "These are not the headers as they were sent: the timestamp is Unix seconds, the signature 64 hex characters, or `v1,…` with its id.";

/** Whether the body was signed with the channel's stored secret, and why not. Throws 422 for one that signs nothing. */
export function checkSignature(
  sealer: Sealer,
  row: IntegrationRow,
  { timestamp, signature, id, body }: z.output<typeof signatureCheck>,
): { ok: boolean; reason: string | null } {
  const credentials = openCredentials(sealer, row);
  if (credentials === null) return { ok: false, reason: UNREADABLE };
  const { secret } = credentials;
  if (secret === undefined || secret === "")
    throw new ServiceError("missing_credential", `A ${row.type} channel signs nothing.`);
  const isStandard = /^v1,/.test(signature) && id !== undefined && /^\d{1,12}$/.test(timestamp);
  if (isStandard) {
    const signed = { eventId: id, timestamp: Number(timestamp), body };
    const ok = isStandardSigned(secret, signed, signature);
    return { ok, reason: ok ? null : MISMATCH };
  }
  const headers = readSignatureHeaders(timestamp, signature.toLowerCase());
  if (headers === null) return { ok: false, reason: NO_SHAPE };
  const ok = isSignedBy(secret, headers, body);
  return { ok, reason: ok ? null : MISMATCH };
}
