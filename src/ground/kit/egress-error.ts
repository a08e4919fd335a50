/**
 * The closed list of errors of outgoing connections. They are stored in `last_error`, so they contain no address, no
 * URL and no text from the other side.
 * - `bad_url`, `https_required`, `bad_request`: the request can't be sent
 * - `busy`: the time passed in a queue of this program, for a lookup, a connection or a pool; nothing was sent, and
 *   nothing is known of the other side
 * - `address_refused`, `dns`, `refused`, `unreachable`, `timeout_connect`, `tls: …`: nothing was sent
 * - `timeout`: no answer within the limit; `body_too_slow`: an answer began but didn't end within it
 * - `reset`, `closed`: the connection broke, by a reset or a regular close; `bad_response`: the answer isn't HTTP
 * - `stopped`: this side gave up (shutdown); `network`: anything else
 */
export const egressErrors = [
  "bad_url",
  "https_required",
  "bad_request",
  "busy",
  "address_refused",
  "dns",
  "refused",
  "unreachable",
  "timeout_connect",
  "timeout",
  "body_too_slow",
  "reset",
  "closed",
  "tls: self_signed",
  "tls: untrusted",
  "tls: expired",
  "tls: not_yet_valid",
  "tls: wrong_name",
  "tls: handshake",
  "bad_response",
  "stopped",
  "network",
] as const;

export type EgressError = (typeof egressErrors)[number];

/** A failure whose code is known already. */
export class EgressFault extends Error {
  readonly egressError: EgressError;

  constructor(egressError: EgressError) {
    super(egressError);
    this.name = "EgressFault";
    this.egressError = egressError;
  }
}

const BY_CODE: Readonly<Record<string, EgressError>> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EHOSTDOWN: "unreachable",
  ENETDOWN: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  EACCES: "unreachable",
  EPERM: "unreachable",
  ETIMEDOUT: "timeout_connect",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ECONNABORTED: "reset",
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls: self_signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls: self_signed",
  CERT_HAS_EXPIRED: "tls: expired",
  CERT_NOT_YET_VALID: "tls: not_yet_valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls: wrong_name",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls: untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls: untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls: untrusted",
  CERT_UNTRUSTED: "tls: untrusted",
  CERT_REVOKED: "tls: untrusted",
  CERT_SIGNATURE_FAILURE: "tls: untrusted",
  INVALID_CA: "tls: untrusted",
  INVALID_PURPOSE: "tls: untrusted",
  CERT_CHAIN_TOO_LONG: "tls: untrusted",
  EPROTO: "tls: handshake",
};

/** The code for any error of Node. */
export function egressErrorOf(error: unknown): EgressError {
  if (error instanceof EgressFault) return error.egressError;
  const code = codeOf(error);
  // Node's words for a connection that the other side closed in order, too early.
  if (code === "ECONNRESET" && /^(socket hang up|aborted)$/.test((error as Error).message))
    return "closed";
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (code.startsWith("HPE_")) return "bad_response";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls: handshake";
  return "network";
}

/** The error's code. Where several addresses were tried, the first code that isn't only a number. */
function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) {
    return error.errors.map(codeOf).find((code) => code !== "") ?? "";
  }
  return "";
}
