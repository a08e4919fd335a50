import { ServiceError } from "../ground/kit/errors.ts";
import { isSignedBy, isSkewed, readSignatureHeaders } from "../ground/kit/sign.ts";
import { type PageDeps, type PageResult, pushPage } from "./page.ts";
import type { PageCounts, PageEnd } from "./page-counts.ts";
import { noticeOf } from "./push.ts";
import type { HeardBox } from "./registry/heartbeats.ts";
import { isBoxUrl, type RelayedEvent, readRelayedEvent } from "./relay-event.ts";

const IN_FLIGHT_RETRY_SECONDS = 2;
const LATE_RETRY_SECONDS = 2;

export interface RelayRequest {
  /** From the path; any text. */
  keyId: string;
  /** `X-Service-Timestamp` and `X-Service-Signature` as sent, if they were. */
  timestampHeader: string | undefined;
  signatureHeader: string | undefined;
  /** At most 64 KiB; its reader enforces that. */
  rawBody: Uint8Array;
  /** Called with the tenant when the signature is valid, before anything is done. */
  known?(tenantId: string): void;
}

export type RelayResult =
  /** `anotherBox`: another box reports with the same key. */
  | { kind: "relayed"; relayed: boolean; devices: number; duplicate: boolean; anotherBox?: true }
  /** 400: a header or the body can't be read; `why` is a sentence. */
  | { kind: "malformed"; why: string }
  /** 400: the caller's clock is `skew` seconds ahead of ours (behind when negative). */
  | { kind: "skewed"; skew: number; now: number }
  /** 401: unknown key, revoked key or bad signature; the answer doesn't say which. */
  | { kind: "unauthorized" }
  /** 409: another request is pushing this page now. */
  | { kind: "in_flight"; retryAfter: number }
  /** 503: reading the recipients took too long, so nobody was paged. */
  | { kind: "late"; retryAfter: number }
  /** 502: the push provider failed for some devices; the next try goes to those alone. */
  | { kind: "push_failed"; why: string; retryAfter: number | null }
  /** 503: no push can be sent until an operator has acted. */
  | { kind: "unavailable"; why: string }
  /** 503: this tenant has used up its budget of pages. */
  | { kind: "limited"; retryAfter: number };

export interface RelayDeps extends PageDeps {
  /** Takes one from a tenant's budget of pages; returns the seconds to wait when it is used up. */
  admit?(tenantId: string): number | null;
  /** Called for each page that a box requested, with its end and duration. */
  paged?: PageCounts["add"];
}

/** Answers one event that a box relays; the checks run in the order of contract §7. */
export async function relayEvent(deps: RelayDeps, request: RelayRequest): Promise<RelayResult> {
  const stamp = readStamp(request.timestampHeader);
  if (stamp === null) {
    return { kind: "malformed", why: "X-Service-Timestamp must be Unix seconds." };
  }
  const now = Math.floor(deps.clock.now() / 1000);
  if (isSkewed(stamp, now)) return { kind: "skewed", skew: stamp - now, now };
  const key = await deps.registry.relayKeys.find(request.keyId);
  if (key.secret === null) return { kind: "unavailable", why: "the relay key can't be unsealed" };
  const isGood = isSigned(request, key.secret);
  if (!isGood || key.tenantId === null) {
    await deps.registry.relayKeys.lives(request.keyId, key);
    return { kind: "unauthorized" };
  }
  const { tenantId } = key;
  request.known?.(tenantId);
  const result = await taken(deps, request, { tenantId, relayKeyId: request.keyId, stamp });
  // What acts checks whether the key is live. For the rest this checks it: a revoked key gets no other answer, and is
  // forgotten, so that the next request takes nothing from the tenant's budget.
  const hasActed = result.kind !== "malformed" && result.kind !== "ignored";
  if (hasActed && result.kind !== "unauthorized") return result;
  if (!(await deps.registry.relayKeys.lives(request.keyId, key))) return { kind: "unauthorized" };
  if (result.kind !== "ignored") return result;
  return { kind: "relayed", relayed: false, devices: 0, duplicate: false };
}

/** `ignored`: an unknown kind of a box's report about itself, which is accepted. */
async function taken(
  deps: RelayDeps,
  { rawBody }: RelayRequest,
  { stamp, ...from }: Sender & { stamp: number },
): Promise<RelayResult | { kind: "ignored" }> {
  const event = readRelayedEvent(rawBody);
  if (typeof event === "string") return { kind: "malformed", why: event };
  const timestamp = event.timestamp ?? stamp;
  if (!event.event.startsWith("box.")) {
    const wait = deps.admit?.(from.tenantId) ?? null;
    if (wait !== null) return { kind: "limited", retryAfter: wait };
    return answerOf(await countedPage(deps, from, { ...event, timestamp }));
  }
  // A time in the future, from a wrong clock, would outrank all later reports.
  return hearBox(deps, from, { ...event, timestamp: Math.min(timestamp, stamp) });
}

/** Seconds as digits only: no sign, no fraction, no spaces. */
function readStamp(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,11}$/.test(header) ? Number(header) : null;
}

/** Does the same work for a header of any shape, so that timing reveals nothing. */
function isSigned(request: RelayRequest, secret: string): boolean {
  const { timestampHeader = "", signatureHeader = "", rawBody } = request;
  const headers = readSignatureHeaders(timestampHeader, signatureHeader.toLowerCase());
  const none = { timestamp: 0, timestampText: timestampHeader, signature: "-".repeat(64) };
  return isSignedBy(secret, headers ?? none, rawBody);
}

type TimedEvent = RelayedEvent & { timestamp: number };

/** The event's tenant, and the key that signed it: that can be revoked between check and action. */
interface Sender {
  tenantId: string;
  relayKeyId: string;
}

/** A box's report about itself: stored, never pushed. */
async function hearBox(
  deps: PageDeps,
  from: Sender,
  event: TimedEvent,
): Promise<RelayResult | { kind: "ignored" }> {
  const { tenants, heartbeats } = deps.registry;
  let heard: HeardBox = "heard";
  const { boxUrl, boxTenantId, timestamp: stamp, boot } = event;
  if (event.event === "box.announced") {
    if (!isBoxUrl(boxUrl)) return { kind: "malformed", why: "/box_public_url must be a URL." };
    if (!/^\w{1,64}$/.test(boxTenantId)) {
      return { kind: "malformed", why: "/tenant_id must be the box's tenant id." };
    }
    const done = await tenants.announce({ ...from, boxUrl, boxTenantId, stamp });
    if (done === "revoked") heard = null;
  } else if (event.event === "box.heartbeat")
    heard = await heartbeats.beat({ ...from, stamp, ...(boot === "" ? {} : { boot }) });
  else if (event.event === "box.goodbye") heard = await heartbeats.goodbye({ ...from, stamp });
  else return { kind: "ignored" };
  if (heard === null) return { kind: "unauthorized" };
  const told = { kind: "relayed", relayed: false, devices: 0, duplicate: false } as const;
  return heard === "twin" ? { ...told, anotherBox: true } : told;
}

async function countedPage(deps: RelayDeps, from: Sender, event: TimedEvent): Promise<PageResult> {
  const since = deps.clock.mono();
  let end: PageEnd = "fault";
  try {
    const result = await pageFor(deps, from, event);
    end = result.kind === "paged" && result.duplicate ? "duplicate" : result.kind;
    return result;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_ready") end = "away";
    throw error;
  } finally {
    deps.paged?.(end, deps.clock.mono() - since);
  }
}

/** An escalation goes to the accounts that it names, every other event to everybody with a live pairing. */
function pageFor(
  deps: PageDeps,
  { tenantId, relayKeyId }: Sender,
  event: TimedEvent,
): Promise<PageResult> {
  const only = event.event === "alert.escalated" ? event.pageAccounts : null;
  const { alertId, timestamp } = event;
  return pushPage(deps, {
    key: { tenantId, alertId, event: event.event, timestamp },
    relayKeyId,
    audience: { tenantId, through: "pairings", only },
    notice: noticeOf({ ...event, tenantId }),
    subject: alertId,
  });
}

function answerOf(result: PageResult): RelayResult {
  switch (result.kind) {
    case "paged": {
      const { devices, duplicate } = result;
      return { kind: "relayed", relayed: devices > 0, devices, duplicate };
    }
    case "in_flight":
      return { kind: "in_flight", retryAfter: IN_FLIGHT_RETRY_SECONDS };
    case "revoked":
      return { kind: "unauthorized" };
    case "late":
      return { kind: "late", retryAfter: LATE_RETRY_SECONDS };
    case "failed":
      return { kind: "push_failed", why: result.why, retryAfter: result.retryAfter };
    case "unavailable":
      return result;
  }
}
