import type { PushEnd } from "./push-counts.ts";

/** The result of one push. `why` is one clause for logs and answers, without any secret. */
export type PushResult =
  | { kind: "delivered" }
  /** The token has been invalid for this topic since `at` (milliseconds; null where APNs gave no time). */
  | { kind: "gone"; at: number | null }
  | { kind: "bad_token"; why: string }
  /** A later try may succeed; `retryAfter` in seconds where APNs gave it. */
  | { kind: "retry"; why: string; retryAfter: number | null }
  /** The operator must change the key, topic or endpoint first. */
  | { kind: "misconfigured"; why: string }
  /** Not sent: the person stopped being a recipient while the push waited. */
  | { kind: "withdrawn" };

/** `expired_token`: the provider token is too old; the push can be sent again with a new one. */
type ApnsVerdict = PushResult | { kind: "expired_token" };

interface ApnsAnswer {
  status: number;
  /** The JSON body's `reason`, or "". */
  reason: string;
  /** The JSON body's `timestamp` in milliseconds (410 only), or null. */
  timestamp: number | null;
  /** `Retry-After` in seconds, or null. */
  retryAfter: number | null;
}

type Rule = "gone" | "bad_token" | "retry" | "misconfigured" | "expired_token";

/**
 * Every reason in Apple's "Handling notification responses from APNs". A wrong topic, key or header is the operator's
 * to fix, so the box must keep trying until then.
 */
const reasons: Readonly<Record<string, Rule>> = {
  BadCollapseId: "misconfigured",
  BadDeviceToken: "bad_token",
  BadExpirationDate: "misconfigured",
  BadMessageId: "misconfigured",
  BadPriority: "misconfigured",
  BadTopic: "misconfigured",
  DeviceTokenNotForTopic: "bad_token",
  DuplicateHeaders: "misconfigured",
  IdleTimeout: "retry",
  InvalidPushType: "misconfigured",
  MissingDeviceToken: "misconfigured",
  MissingTopic: "misconfigured",
  PayloadEmpty: "misconfigured",
  TopicDisallowed: "misconfigured",
  BadCertificate: "misconfigured",
  BadCertificateEnvironment: "misconfigured",
  BadEnvironmentKeyIdInToken: "misconfigured",
  ExpiredProviderToken: "expired_token",
  Forbidden: "misconfigured",
  InvalidProviderToken: "misconfigured",
  MissingProviderToken: "misconfigured",
  UnrelatedKeyIdInToken: "misconfigured",
  BadPath: "misconfigured",
  MethodNotAllowed: "misconfigured",
  ExpiredToken: "gone",
  Unregistered: "gone",
  PayloadTooLarge: "misconfigured",
  TooManyProviderTokenUpdates: "retry",
  TooManyRequests: "retry",
  InternalServerError: "retry",
  ServiceUnavailable: "retry",
  Shutdown: "retry",
};

/** Classifies APNs' answer to one push; an undocumented reason by its status. */
export function apnsVerdict(answer: ApnsAnswer): ApnsVerdict {
  if (answer.status === 200) return { kind: "delivered" };
  const rule = Object.hasOwn(reasons, answer.reason)
    ? reasons[answer.reason]
    : byStatus(answer.status);
  const why = `APNs answered ${answer.status}${answer.reason === "" ? "" : ` ${printable(answer.reason)}`}`;
  switch (rule) {
    case "gone":
      return { kind: "gone", at: answer.timestamp };
    case "bad_token":
    case "misconfigured":
      return { kind: rule, why };
    case "expired_token":
      return { kind: "expired_token" };
    default:
      return { kind: "retry", why, retryAfter: answer.retryAfter };
  }
}

/** The counter for a push that ended with this answer. */
export function apnsEnd({ status, reason }: ApnsAnswer, kind: ApnsVerdict["kind"]): PushEnd {
  switch (kind) {
    case "gone":
      return "unregistered";
    case "expired_token":
      return "provider_token";
    case "misconfigured":
      return status === 403 ? "provider_token" : "refused";
    case "retry":
      if (reason === "TooManyProviderTokenUpdates") return "provider_token";
      return status === 429 ? "throttled" : "provider";
    default:
      return kind;
  }
}

function byStatus(status: number): Rule {
  if (status === 410) return "gone";
  return status === 429 || status >= 500 || status < 400 ? "retry" : "misconfigured";
}

/** The fields of an answer's JSON body. A field that is missing or of another type is empty. */
export function readApnsBody(body: string): { reason: string; timestamp: number | null } {
  const fields = parsed(body);
  const reason = fields["reason"];
  const timestamp = fields["timestamp"];
  return {
    reason: typeof reason === "string" ? reason : "",
    timestamp: typeof timestamp === "number" && Number.isFinite(timestamp) ? timestamp : null,
  };
}

/** `Retry-After` in whole seconds; null for none or a date. */
export function readRetryAfter(header: unknown): number | null {
  return typeof header === "string" && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

function parsed(body: string): Record<string, unknown> {
  if (body === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function printable(reason: string): string {
  return reason.replace(/[^\x20-\x7e]/g, "?").slice(0, 64);
}
