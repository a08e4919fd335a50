import type { Egress } from "../../ground/kit/egress.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";
import { callRelay, findRelay, type RelayRow } from "./relay.ts";
import { resumeDeliveries } from "./rows.ts";

/** What a box says of itself to the relay; never pushed to anybody (contract §7). */
type BoxEvent = "box.announced" | "box.heartbeat" | "box.goodbye";

/** How the relay stands, as far as the latest word to it tells. */
interface RelayContact {
  /** When it last took a word, in Unix seconds; null: not since the start. */
  readonly heardAt: number | null;
  /** What was wrong the last time; null: nothing. */
  readonly error: string | null;
  /** Seconds that this box's clock is ahead of the relay's; null where it isn't known. */
  readonly skewSeconds: number | null;
  /** Another box pages with this one's key: a copy that was restored, or is to be this one's end. */
  readonly anotherBox: boolean;
}

export type RelayHeartbeat = ReturnType<typeof createRelayHeartbeat>;

interface RelayHeartbeatDeps {
  store: Store;
  sealer: Sealer;
  egress: Egress;
  log: Log;
  tenantId: string;
}

const NO_CONTACT: RelayContact = {
  heardAt: null,
  error: null,
  skewSeconds: null,
  anotherBox: false,
};

const HEARTBEAT_SECONDS = 60;
const ANNOUNCE_SECONDS = 86_400;
const AGAIN_SECONDS = 60;
const TIMEOUT_MS = 5_000;
const GOODBYE_MS = 2_000;

/**
 * A heartbeat a minute, so that somebody notices when this box dies, and its public address on change
 * and daily. Lengths are measured by the monotonic clock: a clock set back must not silence it.
 */
export function createRelayHeartbeat(deps: RelayHeartbeatDeps) {
  const { store, log } = deps;
  const stopped = new AbortController();
  // Of two boxes with one key each has its own: a copy has all else of the first.
  const boot = hexId(store.random);
  let nextBeat = store.clock.mono();
  let contact = NO_CONTACT;
  /** Whom this was said to. A relay that goes from the configuration still expects a heartbeat. */
  let known: RelayRow | null = null;

  const call = (
    relay: RelayRow,
    event: BoxEvent,
    how: { timeoutMs: number; signal?: AbortSignal },
  ) => {
    const now = Math.floor(store.clock.now() / 1000);
    const eventId = hexId(store.random);
    const body = bodyOf(event, relay, { now, eventId, boot, tenantId: deps.tenantId });
    return callRelay({ ...deps, ...how }, relay, { eventId, timestamp: now, body });
  };

  const say = async (...said: Parameters<typeof call>) => {
    const [relay, event] = said;
    known = relay;
    const answer = await call(...said);
    const now = Math.floor(store.clock.now() / 1000);
    const verdict = answer?.verdict ?? { kind: "later", error: "sealed secret unreadable" };
    const isTaken = verdict.kind === "delivered";
    const error = isTaken ? null : verdict.error;
    if (error !== contact.error && event !== "box.goodbye")
      log[isTaken ? "info" : "error"]({ event, error }, "the hosted relay");
    if (answer?.anotherBox === true && !contact.anotherBox)
      log.error(
        "another box pages with this box's relay key: stop the copy, or give it a key of its own",
      );
    const isBack = isTaken && (contact.heardAt === null || contact.error !== null);
    contact = {
      heardAt: isTaken ? now : contact.heardAt,
      error,
      skewSeconds: answer?.skewSeconds ?? contact.skewSeconds,
      anotherBox:
        isTaken && event === "box.heartbeat" ? answer?.anotherBox === true : contact.anotherBox,
    };
    if (isBack && !stopped.signal.aborted) release(store);
    return isTaken;
  };

  /** It would page the box's people for its silence. */
  const leave = async (former: RelayRow) => {
    known = null;
    contact = NO_CONTACT;
    nextBeat = store.clock.mono();
    await call(former, "box.goodbye", { timeoutMs: GOODBYE_MS, signal: stopped.signal });
  };

  const announce = async (relay: RelayRow) => {
    const isTaken = await say(relay, "box.announced", {
      timeoutMs: TIMEOUT_MS,
      signal: stopped.signal,
    });
    const next =
      Math.floor(store.clock.now() / 1000) + (isTaken ? ANNOUNCE_SECONDS : AGAIN_SECONDS);
    // A change made meanwhile has set its own time.
    store.write((tx) =>
      tx
        .sql<[next: number, announceAt: number | null]>(
          "UPDATE relay SET announce_at = ? WHERE announce_at = ?",
        )
        .run(next, relay.announceAt),
    );
  };

  return {
    /** Says what is due; when it wants to run next (Unix ms; null = when a relay is configured). */
    async run(now: number): Promise<number | null> {
      if (stopped.signal.aborted) return null;
      const relay = findRelay(store);
      if (known !== null && known.relayUrl !== relay?.relayUrl) await leave(known);
      if (relay === null || stopped.signal.aborted) return null;
      if (isDue(relay.announceAt, now)) await announce(relay);
      if (store.clock.mono() >= nextBeat && !stopped.signal.aborted) {
        nextBeat = store.clock.mono() + HEARTBEAT_SECONDS * 1000;
        await say(relay, "box.heartbeat", { timeoutMs: TIMEOUT_MS, signal: stopped.signal });
      }
      const announceAt = findRelay(store)?.announceAt ?? null;
      const beatAt = store.clock.now() + Math.max(0, nextBeat - store.clock.mono());
      return announceAt === null ? beatAt : Math.min(beatAt, announceAt * 1000);
    },
    contact: () => contact,
    /** Gives up what is under way; `isGoodbye`: says so where a relay is configured. Says nothing after. */
    async end(isGoodbye: boolean) {
      stopped.abort();
      const relay = isGoodbye ? findRelay(store) : null;
      if (relay !== null) await say(relay, "box.goodbye", { timeoutMs: GOODBYE_MS });
    },
  };
}

const ROWS = `UPDATE integrations SET consecutive_failures = 0, failing_since = NULL
  WHERE relay = 1 AND enabled = 1 RETURNING id`;

/** The relay is back, so what waits for it needn't wait for its own next try, which may be an hour off. */
function release(store: Store): void {
  store.write((tx) => {
    for (const id of tx.sql<[], string>(ROWS).pluck().all()) resumeDeliveries(tx, id);
  });
}

/** A time further off than a day is one from before the clock was set back. */
function isDue(at: number | null, now: number): boolean {
  return at !== null && (at <= now || at > now + ANNOUNCE_SECONDS);
}

function bodyOf(
  event: BoxEvent,
  relay: RelayRow,
  said: { now: number; eventId: string; boot: string; tenantId: string },
): string {
  const { hostedTenantId, boxPublicUrl } = relay;
  const { now, eventId, boot, tenantId } = said;
  const more: Record<BoxEvent, object> = {
    "box.announced": { hosted_tenant_id: hostedTenantId, box_public_url: boxPublicUrl },
    "box.heartbeat": { boot_id: boot },
    "box.goodbye": {},
  };
  const plain = { event, event_id: eventId, alert_id: "", project: "", timestamp: now };
  return JSON.stringify({ ...plain, tenant_id: tenantId, ...more[event] });
}
