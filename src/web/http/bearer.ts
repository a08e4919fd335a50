import { ServiceError } from "../../ground/kit/errors.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { parseToken } from "../../ground/kit/ids.ts";

/** The token of `Authorization: Bearer …`; null for anything else, two headers joined by a comma included. */
export function bearer(header: string | undefined): string | null {
  return /^Bearer ([A-Za-z0-9_]{1,128})$/i.exec(header ?? "")?.[1] ?? null;
}

/** One answer for a missing, malformed, unknown, revoked or wrong-plane bearer (contract §16, rule 4). */
export function unauthorized(): ServiceError {
  return new ServiceError(
    "unauthorized",
    "The bearer token is missing, malformed or not known here.",
  );
}

/** An ingest token of the right shape, and whose it says it is. */
export interface IngestToken {
  text: string;
  tenant: string;
}

const MOST_TOKENS = 10_000;

/** Reads `Authorization`; a sender says the same each time, so what was read is remembered. */
export function createTokenReader(): (authorization: string | undefined) => IngestToken | null {
  const known = new ForgetfulMap<string, IngestToken>(MOST_TOKENS);
  return (authorization = "") => {
    const remembered = known.get(authorization);
    if (remembered !== undefined) return remembered;
    const text = bearer(authorization);
    const parsed = text === null ? null : parseToken(text);
    if (text === null || parsed?.plane !== "pti") return null;
    const token = { text, tenant: parsed.tenant };
    known.set(authorization, token);
    return token;
  };
}
