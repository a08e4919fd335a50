import { ServiceError } from "../kit/errors.ts";

/** The token of `Authorization: Bearer …`; null for anything else, two headers joined by a comma included. */
export function bearer(header: string | undefined): string | null {
  return /^Bearer ([A-Za-z0-9_]{1,128})$/i.exec(header ?? "")?.[1] ?? null;
}

/** One answer for a missing, malformed, unknown, revoked or wrong-plane bearer (api §5, rule 4). */
export function unauthorized(): ServiceError {
  return new ServiceError(
    "unauthorized",
    "The bearer token is missing, malformed or not known here.",
  );
}
