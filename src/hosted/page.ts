import { type Clock, sleep } from "../ground/kit/clock.ts";
import type { PushResult } from "./apns-answer.ts";
import { judgePage, type PageVerdict, type PushedDevice } from "./page-verdict.ts";
import { buildPayload, collapseId, type Notice } from "./push.ts";
import type { Pusher } from "./pusher.ts";
import { type Claim, type ClaimKey, HOLD_SECONDS } from "./registry/claims.ts";
import type { Audience, Recipients } from "./registry/devices.ts";
import type { Registry } from "./registry/registry.ts";

const EXPIRES_SECONDS = 3_600;
/** A push is sent within this time, too, and its answer takes at most 5 s more: it is over long before its hold. */
const LEARN_MS = 5_000;
const SETTLE_EVERY_MS = 250;

export interface PageDeps {
  registry: Registry;
  pusher: Pusher;
  clock: Clock;
}

/** One page for the phones of some people. */
export interface Page {
  /** The page is sent once for this key, however often it is requested. */
  key: ClaimKey;
  /** The key that signed the page; null where no box sent it. */
  relayKeyId: string | null;
  audience: Audience;
  notice: Notice;
  /** Notifications of one tenant and subject replace each other on a phone. */
  subject: string;
}

export type PageResult =
  /** Over. `devices`: how many were reached in all tries. */
  | { kind: "paged"; devices: number; duplicate: boolean }
  | { kind: "in_flight" }
  /** The key that signed it was revoked. */
  | { kind: "revoked" }
  /** Nobody was pushed to: reading the recipients took too long. */
  | { kind: "late" }
  | { kind: "failed"; why: string; retryAfter: number | null }
  | { kind: "unavailable"; why: string };

/**
 * Pushes a page to every device of its audience that no earlier try reached, all at once, and returns the result.
 * Recipients are read when the page is sent, never before.
 */
export async function pushPage(deps: PageDeps, page: Page): Promise<PageResult> {
  const { registry, clock } = deps;
  const askedAt = clock.mono();
  const taken = await registry.claims.take(page.key, { relayKeyId: page.relayKeyId });
  if (taken.kind === "done") return { kind: "paged", devices: taken.devices, duplicate: true };
  if (taken.kind !== "taken") return taken;
  const hold: Hold = { ...taken, askedAt };
  const who = await whoInTime(deps, page, hold);
  if (who !== null) return pushAndSettle(deps, { page, hold, who });
  await giveBack(deps, hold);
  return { kind: "late" };
}

interface Hold {
  claim: Claim;
  /** The devices that earlier tries reached. */
  reached: readonly string[];
  /** Monotonic time of the request. */
  askedAt: number;
}

/** The recipients; null where they, or the hold, came too late. */
async function whoInTime(deps: PageDeps, page: Page, hold: Hold): Promise<Recipients | null> {
  if (isLate(deps, hold)) return null;
  try {
    const who = await deps.registry.devices.recipients(page.audience);
    return isLate(deps, hold) ? null : who;
  } catch (error) {
    // If the hold can't be released it expires; the first error is the one to report.
    await giveBack(deps, hold).catch(() => {});
    throw error;
  }
}

function isLate({ clock }: PageDeps, { askedAt }: Hold): boolean {
  return clock.mono() - askedAt > LEARN_MS;
}

/** Releases the hold without a result, so that the next request can try at once. */
function giveBack({ registry }: PageDeps, { claim, reached }: Hold): Promise<void> {
  return registry.claims.settle(claim, { reached: [], done: false, devices: reached.length });
}

async function pushAndSettle(
  deps: PageDeps,
  at: { page: Page; hold: Hold; who: Recipients },
): Promise<PageResult> {
  const { registry } = deps;
  const { hold } = at;
  const readAtMs = at.who.atMs;
  const earlier = hold.reached.length;
  const { pushed, faults } = await pushAll(deps, at);
  const verdict = judgePage(pushed, earlier);
  const devices = earlier + verdict.reached.length;
  const done = verdict.outcome.kind === "paged";
  // Both in one commit: otherwise a device could be retired by a page whose result wasn't stored.
  await untilItHolds(deps, hold, () =>
    Promise.all([
      registry.devices.retire({ readAtMs, gone: verdict.gone, bad: verdict.bad }),
      registry.claims.settle(hold.claim, { reached: verdict.reached, done, devices }),
    ]),
  );
  if (faults.length > 0) throw faults[0];
  return resultOf(verdict, devices);
}

/** Stores while the hold lasts whom the page reached: otherwise the next try would ring them again. */
async function untilItHolds(
  { clock }: PageDeps,
  { askedAt }: Hold,
  note: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await note();
      return;
    } catch (error) {
      if (clock.mono() - askedAt + SETTLE_EVERY_MS >= HOLD_SECONDS * 1000) throw error;
      await sleep(clock, SETTLE_EVERY_MS);
    }
  }
}

async function pushAll(
  { registry, pusher }: PageDeps,
  { page, hold, who }: { page: Page; hold: Hold; who: Recipients },
): Promise<{ pushed: PushedDevice[]; faults: unknown[] }> {
  const { audience, notice } = page;
  // By the registry's clock: with a wrong clock of this node the push could expire before a phone that is off gets it.
  const expiresAt = Math.floor(who.atMs / 1000) + EXPIRES_SECONDS;
  const collapse = collapseId(page.key.tenantId, page.subject);
  const reached = new Set(hold.reached);
  const left = who.recipients.filter((recipient) => !reached.has(recipient.token));
  const payloads = new Map<boolean, string>();
  const payloadFor = (criticalAlerts: boolean) => {
    return payloads.getOrInsertComputed(criticalAlerts, () =>
      buildPayload(notice, { criticalAlerts }),
    );
  };
  // An unexpected error must not hide which other devices were reached.
  const faults: unknown[] = [];
  const pushed = left.map(async ({ token, criticalAlerts }) => {
    const push = {
      since: hold.askedAt,
      token,
      payload: payloadFor(criticalAlerts),
      collapseId: collapse,
      expiresAt,
      stillWanted: () => registry.devices.isRecipient(audience, token),
    };
    const result = await pusher.push(push).catch((error: unknown): PushResult => {
      faults.push(error);
      return { kind: "retry", why: "a fault of the relay", retryAfter: null };
    });
    return { token, result };
  });
  return { pushed: await Promise.all(pushed), faults };
}

function resultOf(verdict: PageVerdict, devices: number): PageResult {
  const { outcome } = verdict;
  return outcome.kind === "paged" ? { kind: "paged", devices, duplicate: false } : outcome;
}
