import type { Clock } from "../kit/clock.ts";
import { ServiceError } from "../kit/errors.ts";
import type { Store } from "./store.ts";

/** What an answer waits at most for the commits before it, in milliseconds. */
const MOST_MS = 5_000;
const AGAIN_SECONDS = 2;

/**
 * Whether what was read or written up to now may be told. null: yes. Else it resolves when it may, and rejects with
 * not_ready where that takes too long: the commits stand, and may still become durable.
 */
export function mayTell(store: Pick<Store, "durable" | "clock">): Promise<void> | null {
  const waiting = store.durable();
  return waiting === null ? null : inTime(store.clock, waiting);
}

/** The same for senders, who send again what nobody confirms: not while another machine may never have it. */
export function mayConfirm(
  store: Pick<Store, "durable" | "isInDoubt" | "clock">,
): Promise<void> | null {
  const waiting = store.isInDoubt() ? Promise.resolve() : mayTell(store);
  const confirmed = waiting?.then(() => {
    if (store.isInDoubt()) throw notYet();
  });
  // A batch may be of senders who don't wait.
  confirmed?.catch(() => {});
  return confirmed ?? null;
}

function inTime(clock: Clock, waiting: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = () => {
      cancel();
      reject(notYet());
    };
    const cancel = clock.after(MOST_MS, refuse);
    waiting.then(() => {
      cancel();
      resolve();
    }, refuse);
  });
}

function notYet(): ServiceError {
  return new ServiceError("not_ready", "What this is about is not safe yet: try again shortly.", {
    retryAfter: AGAIN_SECONDS,
  });
}
