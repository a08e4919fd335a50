import { type ErrorCode, ServiceError } from "../../ground/kit/errors.ts";
import { errorBody, errorHeaders, json } from "../../web/http/answer.ts";
import { responses } from "../../web/http/openapi.ts";
import type { RawOperation } from "../../web/http/raw-operation.ts";
import type { AppContext, RawRoute } from "../../web/http/raw-route.ts";
import { readBytes, tooLarge } from "../../web/http/read-request.ts";
import { type RelayDeps, type RelayResult, relayEvent } from "../relay.ts";

const PATH = "/v1/relay/{key_id}";

/** Bytes (contract §19, Relay). */
const RELAY_LIMIT = 65_536;

interface RelayRouteDeps extends RelayDeps {
  /** Takes one from an address's budget of failed authentication. Throws ServiceError rate_limited. */
  failed(address: string): void;
  address(c: AppContext): string;
  /** Called when the request's sender is authenticated. */
  known(c: AppContext): void;
}

/** `POST /v1/relay/{key_id}`: the signature covers the raw bytes, so nothing else is read (contract §7). */
export function relayRoute(deps: RelayRouteDeps): RawRoute {
  return {
    method: "POST",
    path: PATH,
    async handle(c) {
      const answer = await answered(c, deps);
      // A box without a clock of its own reads the time here, so it is the service's time.
      answer.headers.set("date", new Date(deps.clock.now()).toUTCString());
      return answer;
    },
  };
}

async function answered(c: AppContext, deps: RelayRouteDeps): Promise<Response> {
  const known = (tenantId: string) => {
    c.set("tenantId", tenantId);
    deps.known(c);
  };
  const refusal = refusedByLength(c.req.header("content-length"));
  if (refusal !== null) return refused(c, refusal);
  try {
    const result = await relayEvent(deps, {
      keyId: c.req.param("key_id") ?? "",
      timestampHeader: c.req.header("x-service-timestamp"),
      signatureHeader: c.req.header("x-service-signature"),
      rawBody: await readBytes(c.req.raw, RELAY_LIMIT),
      known,
    });
    if (result.kind === "unauthorized") return unauthorized(c, deps);
    return result.kind === "relayed" ? relayed(result) : refused(c, errorOf(result));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refused(c, error.code === "not_ready" ? away(error) : error);
  }
}

/** A body of unknown length, or too long, isn't read. */
function refusedByLength(length: string | undefined): ServiceError | null {
  if (length === undefined || !/^\d+$/.test(length)) {
    return new ServiceError("length_required", "Send the body with its Content-Length.");
  }
  return Number(length) > RELAY_LIMIT ? tooLarge(RELAY_LIMIT) : null;
}

function relayed(result: RelayResult & { kind: "relayed" }): Response {
  const { relayed, devices, duplicate, anotherBox } = result;
  return json(200, {
    relayed,
    devices,
    ...(duplicate ? { duplicate } : {}),
    ...(anotherBox ? { another_box: true } : {}),
  });
}

function refused(c: AppContext, error: ServiceError): Response {
  return json(error.status, errorBody(error, c.get("requestId")), errorHeaders(error));
}

const NOT_KNOWN = new ServiceError(
  "unauthorized",
  "The relay key is unknown or revoked, or the signature is wrong.",
);

/** The same bytes for an unknown key, a revoked one and a bad signature: no request id. */
function unauthorized(c: AppContext, deps: RelayRouteDeps): Response {
  try {
    deps.failed(deps.address(c));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refused(c, limited(error.retryAfter ?? 1));
  }
  const { code, message } = NOT_KNOWN;
  return json(401, { error: { code, message } }, errorHeaders(NOT_KNOWN));
}

/** The registry doesn't answer: the recipients are unknown, so nobody is paged. */
function away({ retryAfter = 2 }: ServiceError): ServiceError {
  const message = "The recipients can't be read at this moment, so nobody was paged: try again.";
  return new ServiceError("relay_unavailable", message, { retryAfter });
}

function limited(retryAfter: number): ServiceError {
  const message = `Too many requests: try again in ${retryAfter} s.`;
  return new ServiceError("relay_unavailable", message, { retryAfter });
}

type Refused = Exclude<RelayResult, { kind: "relayed" | "unauthorized" }>;

function errorOf(result: Refused): ServiceError {
  switch (result.kind) {
    case "malformed":
      return new ServiceError("invalid_request", result.why);
    case "skewed":
      return skewed(result);
    case "in_flight":
      return new ServiceError("push_in_flight", "This page is being pushed at this moment.", {
        retryAfter: result.retryAfter,
      });
    case "push_failed":
      return new ServiceError("push_failed", `Not every phone could be reached: ${result.why}.`, {
        ...(result.retryAfter === null ? {} : { retryAfter: result.retryAfter }),
      });
    case "unavailable":
      return new ServiceError("relay_unavailable", `No push can go out: ${result.why}.`);
    case "late":
      return new ServiceError(
        "relay_unavailable",
        "Reading the recipients took too long, so nobody was paged: try again.",
        { retryAfter: result.retryAfter },
      );
    case "limited":
      return limited(result.retryAfter);
  }
}

function skewed({ skew, now }: { skew: number; now: number }): ServiceError {
  const way = skew > 0 ? "ahead of" : "behind";
  const message = `The request's time is ${Math.abs(skew)} s ${way} the time here, ${now}.`;
  const details = [{ field: "X-Service-Timestamp", reason: "clock_skew", value: String(now) }];
  return new ServiceError("clock_skew", message, { details });
}

const codes: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_json",
  "clock_skew",
  "unauthorized",
  "push_in_flight",
  "length_required",
  "body_too_large",
  "unsupported_encoding",
  "internal",
  "push_failed",
  "relay_unavailable",
];

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** The route in the OpenAPI document. */
export const relayOperation: RawOperation = {
  method: "POST",
  path: PATH,
  operation: {
    operationId: "relayEvent",
    tags: ["Relay"],
    summary: "Take an event from a box and push it to the phones of its people",
    security: [],
    parameters: [
      { name: "key_id", in: "path", required: true, schema: { type: "string" } },
      header("X-Service-Timestamp", "Unix seconds, at most 300 from now"),
      header("X-Service-Signature", "Hex HMAC-SHA256 of timestamp, a dot, and the raw body"),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["event", "alert_id", "project"],
            properties: {
              event: { type: "string" },
              alert_id: { type: "string" },
              project: { type: "string" },
            },
          },
        },
      },
    },
    responses: responses(
      200,
      {
        type: "object",
        required: ["relayed"],
        properties: {
          relayed: { type: "boolean" },
          devices: { type: "integer" },
          duplicate: { type: "boolean" },
          another_box: {
            type: "boolean",
            description: "To a heartbeat: two boxes page with this key, by their boot_id",
          },
        },
      },
      codes,
    ),
  },
};
