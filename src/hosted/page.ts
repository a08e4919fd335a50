import type { Clock } from "../kit/clock.ts";
import { judgePage, type PageVerdict, type PushedDevice } from "./page-verdict.ts";
import { buildPayload, collapseId, type Notice } from "./push.ts";
import type { Pusher } from "./pusher.ts";
import type { Claim, ClaimKey } from "./registry/claims.ts";
import type { Audience } from "./registry/devices.ts";
import type { Registry } from "./registry/registry.ts";

const EXPIRES_SECONDS = 3_600;

export interface PageDeps {
  registry: Registry;
  pusher: Pusher;
  clock: Clock;
}

/** One page for some people's phones. */
export interface Page {
  /** Sent once for this key, however often it is asked for. */
  key: ClaimKey;
  audience: Audience;
  notice: Notice;
  /** Notifications of one tenant and subject replace each other on a phone. */
  subject: string;
}

export type PageResult =
  /** Over. `devices`: how many handsets were reached in all tries. */
  | { kind: "paged"; devices: number; duplicate: boolean }
  | { kind: "in_flight" }
  | { kind: "failed"; why: string; retryAfter: number | null }
  | { kind: "unavailable"; why: string };

/**
 * Pushes a page to every handset of its audience that no earlier try reached, all at once, and says
 * what came of it. Who is paged is read when it is sent, never before.
 */
export async function pushPage(deps: PageDeps, page: Page): Promise<PageResult> {
  const { claims } = deps.registry;
  const taken = await claims.take(page.key);
  if (taken.kind === "in_flight") return { kind: "in_flight" };
  if (taken.kind === "done") return { kind: "paged", devices: taken.devices, duplicate: true };
  try {
    return await pushAndSettle(deps, page, taken);
  } catch (error) {
    // The hold is let go where it can be, else it runs out by itself; the first error is the news.
    await claims.settle(taken.claim, { reached: [], done: false, devices: 0 }).catch(() => {});
    throw error;
  }
}

async function pushAndSettle(
  deps: PageDeps,
  page: Page,
  held: { claim: Claim; reached: string[] },
): Promise<PageResult> {
  const { registry, clock } = deps;
  const pushedAtMs = clock.now();
  const verdict = judgePage(await pushAll(deps, page, new Set(held.reached)), held.reached.length);
  const devices = held.reached.length + verdict.reached.length;
  const done = verdict.outcome.kind === "paged";
  // Asked for together, so one commit: a device is never retired by a page that wasn't settled.
  await Promise.all([
    registry.devices.retire({ pushedAtMs, gone: verdict.gone, bad: verdict.bad }),
    registry.claims.settle(held.claim, { reached: verdict.reached, done, devices }),
  ]);
  return resultOf(verdict, devices);
}

async function pushAll(
  deps: PageDeps,
  page: Page,
  reached: ReadonlySet<string>,
): Promise<PushedDevice[]> {
  const { registry, pusher, clock } = deps;
  const { audience, notice } = page;
  const expiresAt = Math.floor(clock.now() / 1000) + EXPIRES_SECONDS;
  const collapse = collapseId(page.key.tenantId, page.subject);
  const recipients = await registry.devices.recipients(audience);
  const left = recipients.filter((recipient) => !reached.has(recipient.token));
  const payloads = new Map<boolean, string>();
  const payloadFor = (criticalAlerts: boolean) => {
    const payload = payloads.get(criticalAlerts) ?? buildPayload(notice, { criticalAlerts });
    payloads.set(criticalAlerts, payload);
    return payload;
  };
  return Promise.all(
    left.map(async ({ token, criticalAlerts }) => {
      const result = await pusher.push({
        token,
        payload: payloadFor(criticalAlerts),
        collapseId: collapse,
        expiresAt,
        stillWanted: () => registry.devices.isRecipient(audience, token),
      });
      return { token, result };
    }),
  );
}

function resultOf(verdict: PageVerdict, devices: number): PageResult {
  const { outcome } = verdict;
  return outcome.kind === "paged" ? { kind: "paged", devices, duplicate: false } : outcome;
}
