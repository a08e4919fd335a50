import { type Clock, sleep } from "../ground/kit/clock.ts";
import type { PushResult } from "./apns-answer.ts";
import { judgePage, type PageVerdict, type PushedDevice } from "./page-verdict.ts";
import { buildPayload, collapseId, type Notice } from "./push.ts";
import type { Pusher } from "./pusher.ts";
import { type Claim, type ClaimKey, HOLD_SECONDS } from "./registry/claims.ts";
import type { Audience, Recipients } from "./registry/devices.ts";
import type { Registry } from "./registry/registry.ts";

const EXPIRES_SECONDS = 3_600;
/** A push is sent by then, too, and has 5 s more for its answer: it is over long before its hold is. */
const LEARN_MS = 5_000;
const SETTLE_EVERY_MS = 250;

export interface PageDeps {
  registry: Registry;
  pusher: Pusher;
  clock: Clock;
}

/** One page for some people's phones. */
export interface Page {
  /** Sent once for this key, however often it is asked for. */
  key: ClaimKey;
  /** What the page was signed with; null where no box sent it. */
  relayKeyId: string | null;
  audience: Audience;
  notice: Notice;
  /** Notifications of one tenant and subject replace each other on a phone. */
  subject: string;
}

export type PageResult =
  /** Over. `devices`: how many handsets were reached in all tries. */
  | { kind: "paged"; devices: number; duplicate: boolean }
  | { kind: "in_flight" }
  /** The key that it was signed with isn't live any more. */
  | { kind: "revoked" }
  /** Nobody was pushed to, because it took too long to learn who may be. */
  | { kind: "late" }
  | { kind: "failed"; why: string; retryAfter: number | null }
  | { kind: "unavailable"; why: string };

/**
 * Pushes a page to every handset of its audience that no earlier try reached, all at once, and says
 * what came of it. Who is paged is read when it is sent, never before.
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
  /** The handsets of earlier tries. */
  reached: readonly string[];
  /** Monotonic time before it began. */
  askedAt: number;
}

/** Whom to push to; null where that, or the hold, was learnt too late. */
async function whoInTime(deps: PageDeps, page: Page, hold: Hold): Promise<Recipients | null> {
  if (isLate(deps, hold)) return null;
  try {
    const who = await deps.registry.devices.recipients(page.audience);
    return isLate(deps, hold) ? null : who;
  } catch (error) {
    // The hold is let go where it can be, else it runs out by itself; the first error is the news.
    await giveBack(deps, hold).catch(() => {});
    throw error;
  }
}

function isLate({ clock }: PageDeps, { askedAt }: Hold): boolean {
  return clock.mono() - askedAt > LEARN_MS;
}

/** Nobody was pushed to, so that the next request may try at once. */
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
  // Asked for together, so one commit: a device is never retired by a page that wasn't settled.
  await untilItHolds(deps, hold, () =>
    Promise.all([
      registry.devices.retire({ readAtMs, gone: verdict.gone, bad: verdict.bad }),
      registry.claims.settle(hold.claim, { reached: verdict.reached, done, devices }),
    ]),
  );
  if (faults.length > 0) throw faults[0];
  return resultOf(verdict, devices);
}

/** Whoever was reached is noted while the hold lasts: afterwards the next try would ring them again. */
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
  // By a wrong clock of this node's it would be over before a phone that is off could have it.
  const expiresAt = Math.floor(who.atMs / 1000) + EXPIRES_SECONDS;
  const collapse = collapseId(page.key.tenantId, page.subject);
  const reached = new Set(hold.reached);
  const left = who.recipients.filter((recipient) => !reached.has(recipient.token));
  const payloads = new Map<boolean, string>();
  const payloadFor = (criticalAlerts: boolean) => {
    const payload = payloads.get(criticalAlerts) ?? buildPayload(notice, { criticalAlerts });
    payloads.set(criticalAlerts, payload);
    return payload;
  };
  // One that throws is a fault of ours, and must not hide whom the others reached.
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
