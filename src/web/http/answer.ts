import { ServiceError } from "../../ground/kit/errors.ts";

/** Headers of every answer of the interface (not of public pages). */
const COMMON = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/** The same of an answer at an address that is a secret: it isn't told to other sites. */
export const SECRET_ADDRESS = { ...COMMON, "referrer-policy": "no-referrer" } as const;

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...COMMON,
      ...headers,
    },
  });
}

/** The one shape of every error (contract §2, Errors). */
export function errorBody(error: ServiceError, requestId: string): object {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details.length > 0 ? { details: error.details } : {}),
      // Constant answers carry no request id, so that all failures are the same bytes.
      ...(isConstant(error) ? {} : { request_id: requestId }),
    },
  };
}

export function errorHeaders(error: ServiceError): Record<string, string> {
  return {
    ...(error.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }),
  };
}

export function errorAnswer(error: ServiceError, requestId: string): Response {
  return json(error.status, errorBody(error, requestId), errorHeaders(error));
}

function isConstant(error: ServiceError): boolean {
  return error.code === "pairing_refused" || error.code === "receipt_refused";
}

export const internalError = new ServiceError("internal", "The request could not be completed.");
